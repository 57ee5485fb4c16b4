#include "tensor/import/wrong_file.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace plimsoll::tensor {

std::string describe_wrong_file(const SourceFile& file) {
  std::array<char, 256> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), file.size()));
  file.read(0, std::as_writable_bytes(std::span(head).first(length)));
  std::string_view text(head.data(), length);

  if (text.empty()) return "empty: fetch it again";
  if (text.starts_with("version https://git-lfs")) {
    return "a Git LFS pointer, not the file it stands for: run 'git lfs pull' where it came from";
  }
  if (text.starts_with("PK\x03\x04")) return "a zip archive: unpack it first";
  if (text.starts_with("\x1f\x8b")) return "compressed by gzip: unpack it first";
  if (text.starts_with("GGUF")) return "a GGUF file, which holds weights but no graph";
  if (text.substr(0, 8).ends_with("TFL3")) return "a TensorFlow Lite model: convert it to ONNX";
  if (text.starts_with("\x89HDF")) return "an HDF5 file: convert the model to ONNX";

  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "blank: fetch it again";
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  };
  if (std::ranges::any_of(text, is_control)) return {};
  if (text[begin] == '<') return "a web page, perhaps an error message: check where it came from";
  if (text[begin] == '{' || text[begin] == '[') {
    return "JSON text, perhaps an error message: check where it came from";
  }
  // Other scripts than Latin may be text as well, but nobody writes a protobuf in one.
  const auto latin = static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  if (latin < text.size() - text.size() / 8) return {};
  return "text, not a binary file; a protobuf in text form must be converted to binary first";
}

}  // namespace plimsoll::tensor
