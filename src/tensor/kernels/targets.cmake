# Instructions of each kernel form. -Wno-psabi: vectors are passed only between functions of one file.
set(FORMS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/forms)
set(FORM_FLAGS -Wno-psabi -fno-trapping-math)
if(PLIMSOLL_SANITIZE)
  # g++ 12's own intrinsics read what they call undefined on purpose.
  list(APPEND FORM_FLAGS -Wno-uninitialized)
endif()
set(AVX2_FLAGS -mavx2 -mfma -mf16c)
# -Wno-uninitialized: GCC 12 warns of its own AVX-512 header (GCC bug 105593).
set(AVX512_FLAGS ${AVX2_FLAGS} -mavx512f -mavx512bw -mavx512dq -mavx512vl -Wno-uninitialized)
set_source_files_properties(${FORMS}/generic.cpp PROPERTIES COMPILE_OPTIONS "${FORM_FLAGS}")
set_source_files_properties(${FORMS}/avx2.cpp ${FORMS}/avx512_on_256.cpp
                            PROPERTIES COMPILE_OPTIONS "${FORM_FLAGS};${AVX2_FLAGS}")
set_source_files_properties(${FORMS}/avx512.cpp PROPERTIES COMPILE_OPTIONS
                                                           "${FORM_FLAGS};${AVX512_FLAGS}")
set_source_files_properties(
  ${FORMS}/avx512_vnni.cpp PROPERTIES COMPILE_OPTIONS
                                      "${FORM_FLAGS};${AVX512_FLAGS};-mavx512vnni")
