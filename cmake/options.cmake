# Compiler options that every target of the project shares.
add_library(plimsoll_options INTERFACE)
target_include_directories(plimsoll_options INTERFACE ${PROJECT_SOURCE_DIR}/include
                                                      ${PROJECT_SOURCE_DIR}/src)
target_compile_options(
  plimsoll_options
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wno-sign-conversion
            -Werror
            -fno-math-errno
            -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports uninitialised reads inside std::variant and std::optional that do not happen.
  target_compile_options(plimsoll_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict
                                                    -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 implements std::stable_sort with what it deprecates itself; sanitizers keep loops
  # from being vectorised, which OpenMP pragmas then warn about.
  target_compile_options(plimsoll_options INTERFACE -Wno-deprecated-declarations -Wno-pass-failed)
endif()
target_compile_definitions(plimsoll_options INTERFACE PLIMSOLL_VERSION="${PROJECT_VERSION}")
find_package(Threads REQUIRED)
target_link_libraries(plimsoll_options INTERFACE Threads::Threads)
if(PLIMSOLL_SANITIZE)
  target_compile_options(plimsoll_options INTERFACE -fsanitize=${PLIMSOLL_SANITIZE}
                                                    -fno-omit-frame-pointer -g1)
  target_link_options(plimsoll_options INTERFACE -fsanitize=${PLIMSOLL_SANITIZE})
  target_compile_definitions(plimsoll_options INTERFACE PLIMSOLL_SANITIZED=1)
endif()
if(PLIMSOLL_FUZZ)
  target_compile_options(plimsoll_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                                                    -fno-omit-frame-pointer -g1)
  target_link_options(plimsoll_options INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(plimsoll_options INTERFACE PLIMSOLL_SANITIZED=1)
endif()

# fmt as a static library of our own (cmake/fmt.cpp says why); not ours to warn about.
add_library(plimsoll_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
if(PLIMSOLL_SANITIZE)
  target_compile_options(plimsoll_fmt PRIVATE -fsanitize=${PLIMSOLL_SANITIZE})
elseif(PLIMSOLL_FUZZ)
  target_compile_options(plimsoll_fmt PRIVATE -fsanitize=address,undefined)
endif()
target_link_libraries(plimsoll_options INTERFACE plimsoll_fmt)
