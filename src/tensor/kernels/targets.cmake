# Instructions of each kernel form. -ffp-contract=fast: the forms are written with a·b + c and mean
# one fused operation. -Wno-psabi: vectors are passed only between inlined functions.
set(FORMS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/forms)
set(FORM_FLAGS -ffp-contract=fast -Wno-psabi -fno-trapping-math)
set_source_files_properties(${FORMS}/generic.cpp PROPERTIES COMPILE_OPTIONS "${FORM_FLAGS}")
set_source_files_properties(${FORMS}/avx2.cpp ${FORMS}/avx512_on_256.cpp
                            PROPERTIES COMPILE_OPTIONS "${FORM_FLAGS};-mavx2;-mfma;-mf16c")
set_source_files_properties(
  ${FORMS}/avx512.cpp
  PROPERTIES
    COMPILE_OPTIONS
    "${FORM_FLAGS};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mf16c;-mprefer-vector-width=512"
)
