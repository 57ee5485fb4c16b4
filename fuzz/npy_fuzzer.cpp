// Feeds bytes to the readers of .npy files and .npz archives: the first byte chooses, the rest is
// the file. Every outcome but an array or an Error is a finding, and so is an Error that blames
// ourselves.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cli/values/npy.h"
#include "cli/values/zip.h"
#include "fuzz/memory_file.h"
#include "plimsoll/error.h"

namespace {

using namespace plimsoll::cli;  // NOLINT: a program of its own

// An archive may honestly expand a thousandfold; what is read is bounded here.
constexpr std::uint64_t most_bytes = 1 << 20;

void read_array(std::unique_ptr<ByteSource> source) {
  NpyReader reader(std::move(source));
  const std::uint64_t bytes =
      plimsoll::checked_bytes(reader.shape(), plimsoll::element_size(reader.type()), "the array");
  if (bytes > most_bytes) return;
  std::vector<std::byte> elements(static_cast<std::size_t>(bytes));
  reader.read({reader.type(), reader.shape(), elements.data()});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const plimsoll::fuzz::MemoryFile bytes;
  if (size == 0) return 0;
  bytes.set(data + 1, size - 1);
  try {
    auto file = std::make_shared<const InputFile>(bytes.path());
    if (data[0] % 2 == 0) {
      read_array(std::make_unique<FileRange>(file));
    } else {
      const ZipEntry entry = find_zip_entry(*file, data[0] % 4 == 1 ? "" : "a");
      read_array(open_zip_entry(file, entry));
    }
  } catch (const plimsoll::Error& error) {
    if (error.kind() == plimsoll::ErrorKind::internal) std::abort();
  }
  return 0;
}
