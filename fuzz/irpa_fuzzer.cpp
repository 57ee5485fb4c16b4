// Feeds bytes to the reader of IRPA archives, and reads what it lists. Every outcome but an archive
// or an Error is a finding, and so is an Error that blames ourselves.
#include <cstddef>
#include <cstdint>

#include "fuzz/archive_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const plimsoll::fuzz::MemoryFile bytes;
  bytes.set(data, size);
  plimsoll::fuzz::open_and_read(bytes.path());
  return 0;
}
