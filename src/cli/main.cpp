// The entry of the `plimsoll` program. Why it exists: --version must stay tiny, so it is answered
// before the option parser is built. May touch: cli/commands.h.
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("plimsoll " PLIMSOLL_VERSION);
    return 0;
  }
  return 2;
}
