#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "cli/output_file.h"
#include "cli/values/npy.h"
#include "cli/values/npy_types.h"
#include "plimsoll/error.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

/// As NumPy writes it: "(2, 3)", "(2,)", "()".
std::string python_tuple(const Shape& shape) {
  std::string text;
  for (std::int64_t dimension : shape.dimensions()) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dimension);
  }
  if (shape.rank() == 1) text += ",";
  return fmt::format("({})", text);
}

std::string npy_prefix(ElementType type, const Shape& shape, const std::string& path) {
  const auto* known = std::ranges::find(npy_types, type, &NpyType::type);
  if (known == std::end(npy_types)) {
    fail_unsupported(
        fmt::format("'{}' cannot be written: .npy has no form for {}", path, element_name(type)));
  }
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                  element_size(type) == 1 ? '|' : '<', known->code, python_tuple(shape));
  // The elements begin at a multiple of 64: ten bytes stand before the header, a newline ends it.
  header.append((64 - (header.size() + 11) % 64) % 64, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 255);
  prefix += static_cast<char>(header.size() >> 8);
  return prefix + header;
}

}  // namespace

void write_npy(const std::string& path, const ConstTensorView& tensor) {
  const bool widen = tensor.type == ElementType::bf16;
  OutputFile file(path);
  file.write(npy_prefix(widen ? ElementType::f32 : tensor.type, tensor.shape, path));
  if (widen) {
    std::array<float, 4096> buffer{};
    const auto bits = tensor.span<std::uint16_t>();
    for (std::size_t done = 0; done < bits.size();) {
      const std::size_t piece = std::min(buffer.size(), bits.size() - done);
      for (std::size_t index = 0; index < piece; ++index) {
        buffer[index] = half_value(ElementType::bf16, bits[done + index]);
      }
      file.write(std::as_bytes(std::span(buffer).first(piece)));
      done += piece;
    }
  } else {
    file.write(std::span(tensor.data, tensor.bytes()));
  }
  file.close();
}

}  // namespace plimsoll::cli
