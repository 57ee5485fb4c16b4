// Feeds bytes to the readers of safetensors: the first byte chooses between a file and an index of
// shards, the rest is the file. Every outcome but an archive or an Error is a finding, and so is an
// Error that blames ourselves.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fuzz/archive_file.h"
#include "tensor/archive/formats.h"

namespace {

/// No shard is found, so what is tested is the map.
void read_map(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;  // NOLINT: a program of its own
  const auto file = tensor::SourceFile::from_memory("fuzzed", std::as_bytes(std::span(data, size)));
  tensor::ArchiveFiles files(file, "/nonexistent");
  tensor::ArchiveIndex index(memory::Budget::root("fuzz", fuzz::most_index_bytes));
  try {
    (void)tensor::read_sharded_safetensors(*file, files, index);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const plimsoll::fuzz::MemoryFile bytes;
  if (size == 0) return 0;
  if (data[0] % 2 == 1) {
    read_map(data + 1, size - 1);
  } else {
    bytes.set(data + 1, size - 1);
    plimsoll::fuzz::open_and_read(bytes.path());
  }
  return 0;
}
