# plimsoll_precompile(NAME [header...]): in sanitizer builds the target's sources include the standard
# headers that most of them use, and those given, precompiled. At -O0 reading headers is a third of
# what compiling takes (gathering.cpp: 1.8 s, with this 1.2). Other builds do not: there each file
# must include what it uses, and clang-tidy reads their commands.
set(PLIMSOLL_COMMON_HEADERS
    <algorithm> <array> <cstring> <expected> <filesystem> <functional> <map> <memory> <optional>
    <random> <span> <string> <unordered_map> <variant> <vector> <fmt/format.h>)
function(plimsoll_precompile NAME)
  if(PLIMSOLL_SANITIZE)
    target_precompile_headers(${NAME} PRIVATE ${PLIMSOLL_COMMON_HEADERS} ${ARGN})
    target_compile_options(${NAME} PRIVATE -fpch-preprocess)
  endif()
endfunction()
