#include "cli/values/npy.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

struct TypeCode {
  ElementType type;
  const char* code;
};
constexpr TypeCode type_codes[] = {
    {ElementType::f32, "f4"}, {ElementType::f64, "f8"}, {ElementType::f16, "f2"},
    {ElementType::i64, "i8"}, {ElementType::i32, "i4"}, {ElementType::i16, "i2"},
    {ElementType::i8, "i1"},  {ElementType::u64, "u8"}, {ElementType::u32, "u4"},
    {ElementType::u16, "u2"}, {ElementType::u8, "u1"},  {ElementType::boolean, "b1"}};

/// The text after "'key':" in the header's dictionary.
std::string_view dictionary_value(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{}{}{}", quote, key, quote);
    const std::size_t at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = header.substr(at + quoted.size());
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) continue;
    rest.remove_prefix(colon + 1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    return rest;
  }
  return {};
}

std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  const std::size_t end = text.find(')');
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(1, end - 1);
  std::vector<std::int64_t> dimensions;
  for (;;) {
    while (text.starts_with(' ') || text.starts_with(',')) text.remove_prefix(1);
    if (text.empty()) return dimensions;
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    if (text.starts_with('L')) text.remove_prefix(1);  // Python 2's long
    if (!text.empty() && text[0] != ',' && text[0] != ' ') return std::nullopt;
    dimensions.push_back(value);
    if (dimensions.size() > 64) return std::nullopt;
  }
}

}  // namespace

NpyHeader parse_npy_header(std::string_view head, std::uint64_t file_bytes,
                           const std::string& what) {
  const auto fail = [&](const std::string& why) { fail_input(fmt::format("'{}' {}", what, why)); };
  if (head.size() < 10 || !head.starts_with("\x93NUMPY")) fail("is not a .npy file");
  const auto byte = [&](std::size_t at) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(head[at]));
  };
  const std::uint64_t major = byte(6);
  std::uint64_t start = 10;
  std::uint64_t length = byte(8) | byte(9) << 8;
  if (major == 2 || major == 3) {
    if (head.size() < 12) fail("ends inside its header");
    start = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  } else if (major != 1) {
    fail(fmt::format("has .npy version {}, 1 to 3 are known", major));
  }
  if (length > head.size() - start) {
    fail(fmt::format("claims a header of {} bytes, which it does not have", length));
  }
  const std::string_view header = head.substr(start, length);
  NpyHeader result;
  const std::string_view descr = dictionary_value(header, "descr");
  const std::size_t quote_end = descr.empty() ? std::string_view::npos : descr.find(descr[0], 1);
  if (quote_end == std::string_view::npos) fail("has no element type in its header");
  const std::string_view code = descr.substr(1, quote_end - 1);
  if (code.starts_with('>')) {
    fail(
        "is big-endian; save it with numpy.ascontiguousarray(a.astype(a.dtype.newbyteorder('<')))");
  }
  for (const TypeCode& candidate : type_codes) {
    if (code.size() == 3 && code.substr(1) == candidate.code) result.type = candidate.type;
  }
  if (result.type == ElementType::undefined) {
    fail(fmt::format("has element type '{}', which is not supported", code));
  }
  if (dictionary_value(header, "fortran_order").starts_with("True")) {
    fail("is in Fortran order; save it with numpy.ascontiguousarray");
  }
  const auto dimensions = parse_shape(dictionary_value(header, "shape"));
  if (!dimensions) fail("has no valid shape in its header");
  try {
    result.shape = Shape(*dimensions);
  } catch (Error& error) {
    error.add_context(fmt::format("'{}'", what));
    throw;
  }
  result.data_offset = start + length;
  const std::uint64_t bytes = checked_bytes(result.shape, element_size(result.type), what.c_str());
  if (file_bytes < result.data_offset || file_bytes - result.data_offset < bytes) {
    fail(fmt::format("needs {} bytes of data for shape {} of {}, but has {}", bytes,
                     result.shape.to_string(), element_name(result.type),
                     file_bytes - std::min(file_bytes, result.data_offset)));
  }
  return result;
}

void write_npy(const std::string& path, const ConstTensorView& tensor) {
  const bool widen = tensor.type == ElementType::bf16;
  const ElementType type = widen ? ElementType::f32 : tensor.type;
  const char* code = nullptr;
  for (const TypeCode& candidate : type_codes) {
    if (candidate.type == type) code = candidate.code;
  }
  if (code == nullptr) fail_unsupported(fmt::format("'{}': this type has no .npy form", path));
  std::string shape;
  for (std::int64_t dimension : tensor.shape.dimensions()) shape += fmt::format("{}, ", dimension);
  if (tensor.shape.rank() != 1 && !shape.empty()) shape.resize(shape.size() - 2);
  if (tensor.shape.rank() == 1) shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   element_size(type) == 1 ? '|' : '<', code, shape);
  // Data starts at a multiple of 64: ten bytes before the header, a newline after it.
  header.append((64 - (header.size() + 11) % 64) % 64, ' ');
  header += '\n';
  const auto fail = [&] {
    throw Error(ErrorKind::failure,
                fmt::format("'{}' cannot be written: {}", path, std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "wb"),
      [](std::FILE* f) { return f == nullptr ? 0 : std::fclose(f); });
  if (!file) fail();
  const unsigned char prefix[10] = {0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    1,
                                    0,
                                    static_cast<unsigned char>(header.size() & 255),
                                    static_cast<unsigned char>(header.size() >> 8)};
  bool good = std::fwrite(prefix, 1, sizeof prefix, file.get()) == sizeof prefix &&
              std::fwrite(header.data(), 1, header.size(), file.get()) == header.size();
  if (widen) {
    for (std::int64_t index = 0; good && index < tensor.elements(); ++index) {
      const std::uint32_t bits = static_cast<std::uint32_t>(tensor.as<std::uint16_t>()[index])
                                 << 16;
      good = std::fwrite(&bits, sizeof bits, 1, file.get()) == 1;
    }
  } else if (tensor.bytes() != 0) {
    good = good && std::fwrite(tensor.data, 1, tensor.bytes(), file.get()) == tensor.bytes();
  }
  if (!good || std::fflush(file.get()) != 0) fail();
}

}  // namespace plimsoll::cli
