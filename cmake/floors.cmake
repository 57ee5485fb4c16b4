# plimsoll_floor(NAME LINKS target...): one floor of the house as a static library made of every
# .cpp file below the calling folder (tests live elsewhere).
function(plimsoll_floor NAME)
  cmake_parse_arguments(FLOOR "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE FLOOR_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${NAME} STATIC ${FLOOR_SOURCES})
  target_link_libraries(${NAME} PUBLIC plimsoll_options ${FLOOR_LINKS})
  list(LENGTH FLOOR_SOURCES FLOOR_COUNT)
  if(FLOOR_COUNT GREATER 10)
    plimsoll_precompile(${NAME})
  endif()
endfunction()

# plimsoll_test(NAME [SLOW] [THREADS] LINKS target...): a GoogleTest program made of every .cpp file
# below the calling folder; each of its tests is a CTest test called NAME.Suite.Test, in a process of
# its own. Their label holds the words by which ./check picks what runs under the sanitizers:
# `unit`; `quick` unless SLOW; `threads` where THREADS says that several threads meet in it.
add_custom_target(plimsoll_unit_tests)
add_custom_target(plimsoll_thread_tests)
function(plimsoll_test NAME)
  cmake_parse_arguments(TEST "SLOW;THREADS" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${NAME} ${TEST_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${TEST_LINKS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${NAME} PRIVATE PLIMSOLL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  list(LENGTH TEST_SOURCES TEST_COUNT)
  if(TEST_COUNT GREATER 4)
    plimsoll_precompile(${NAME} <gtest/gtest.h> <gmock/gmock.h>)
  endif()
  # Optimising what GoogleTest's macros expand to was half of ./check's time to build.
  if(PLIMSOLL_SANITIZE)
    target_compile_options(${NAME} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${NAME} PRIVATE -O1)
  endif()
  add_dependencies(plimsoll_unit_tests ${NAME})
  set(LABEL "unit")
  if(NOT TEST_SLOW)
    string(APPEND LABEL " quick")
  endif()
  if(TEST_THREADS)
    string(APPEND LABEL " threads")
    add_dependencies(plimsoll_thread_tests ${NAME})
  endif()
  gtest_discover_tests(
    ${NAME}
    TEST_PREFIX ${NAME}.
    DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS "${LABEL}" ENVIRONMENT "PLIMSOLL_MODELS=${PROJECT_SOURCE_DIR}/.cache/models")
endfunction()

# plimsoll_python_test(NAME SCRIPT argument...): a script below tests/, run with the Python environment
# of scripts/test_environment.sh, as one CTest test. It checks a program built for use: sanitized
# builds leave it out.
function(plimsoll_python_test NAME SCRIPT)
  if(PLIMSOLL_SANITIZE)
    return()
  endif()
  add_test(NAME ${NAME} COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python -B
                                ${PROJECT_SOURCE_DIR}/tests/${SCRIPT} ${ARGN})
  set_tests_properties(${NAME} PROPERTIES LABELS "python" TIMEOUT 1800)
endfunction()
