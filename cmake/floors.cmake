# plimsoll_floor(NAME LINKS target...): one floor of the house as a static library made of every
# .cpp file below the calling folder (tests live elsewhere).
function(plimsoll_floor NAME)
  cmake_parse_arguments(FLOOR "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE FLOOR_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${NAME} STATIC ${FLOOR_SOURCES})
  target_link_libraries(${NAME} PUBLIC plimsoll_options ${FLOOR_LINKS})
endfunction()

# plimsoll_test(NAME LINKS target...): a GoogleTest program made of every .cpp file below the
# calling folder, registered as one CTest test.
function(plimsoll_test NAME)
  cmake_parse_arguments(TEST "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${NAME} ${TEST_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${TEST_LINKS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${NAME} PRIVATE PLIMSOLL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${NAME} COMMAND ${NAME})
endfunction()
