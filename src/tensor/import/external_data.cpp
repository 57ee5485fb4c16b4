#include "tensor/import/external_data.h"

#include <fmt/format.h>

#include <charconv>

#include "plimsoll/error.h"
#include "tensor/import/wrong_file.h"

namespace plimsoll::tensor::onnx {
namespace {

std::uint64_t parse_bytes(const std::string& text, const char* what) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) {
    fail_input(fmt::format(
        "the {} '{}' of its external data is no number of bytes: export the model again", what,
        text));
  }
  return value;
}

}  // namespace

FileRange ExternalFiles::locate(const ExternalEntries& entries, std::uint64_t bytes) {
  if (!folder_) {
    fail_input(
        fmt::format("its data is in the file '{}', but a model in memory has no folder to "
                    "look in: save the model with its data inside",
                    entries.location));
  }
  const std::uint64_t offset = entries.offset ? parse_bytes(*entries.offset, "offset") : 0;
  const std::uint64_t length = entries.length ? parse_bytes(*entries.length, "length") : bytes;
  if (length != bytes) {
    fail_input(fmt::format(
        "its external data has {} bytes, but its type and shape need {}: export the model again",
        length, bytes));
  }
  std::shared_ptr<const SourceFile>& file = files_[entries.location];
  if (file == nullptr) file = SourceFile::open_below(*folder_, entries.location);
  if (offset > file->size() || length > file->size() - offset) {
    const std::string wrong = describe_wrong_file(*file);
    fail_input(fmt::format(
        "its data is {} bytes at offset {} of '{}', but that file has only {} "
        "bytes{}: fetch it again",
        length, offset, file->path(), file->size(), wrong.empty() ? "" : " and is " + wrong));
  }
  return {file, offset, length};
}

}  // namespace plimsoll::tensor::onnx
