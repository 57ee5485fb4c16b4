#include "cli/values/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "cli/values/image.h"
#include "cli/values/npy.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

using ItemResult = std::expected<InputValue::Item, Refusal>;

ItemResult allocate_item(const Engine& engine, ElementType type, const Shape& shape,
                         const std::string& purpose) {
  InputValue::Item item;
  item.type = type;
  item.shape = shape;
  auto memory = engine.allocate(checked_bytes(shape, element_size(type), purpose.c_str()), purpose);
  if (!memory) return std::unexpected(std::move(memory.error()));
  item.memory = std::move(*memory);
  return item;
}

std::expected<InputValue, Refusal> single(ItemResult item) {
  if (!item) return std::unexpected(std::move(item.error()));
  InputValue value;
  value.items.push_back(std::move(*item));
  return value;
}

/// "1x3x8x8xf32", "f32", "i64": dimensions, then the element type.
std::optional<ValueType> parse_type(std::string_view text) {
  std::vector<std::int64_t> dimensions;
  for (;;) {
    const std::size_t end = text.find('x');
    const std::string_view part = text.substr(0, end);
    if (end == std::string_view::npos) {
      const auto type = element_type_from_name(part);
      if (!type || *type == ElementType::string) return std::nullopt;
      return ValueType{*type, Shape(dimensions)};
    }
    std::int64_t dimension = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), dimension);
    if (error != std::errc{} || rest != part.data() + part.size()) return std::nullopt;
    dimensions.push_back(dimension);
    text.remove_prefix(end + 1);
  }
}

struct RandomSpec {
  std::uint64_t seed = 0;
};
std::optional<RandomSpec> parse_random(std::string_view text) {
  if (!text.starts_with("random:")) return std::nullopt;
  text.remove_prefix(7);
  RandomSpec spec;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), spec.seed);
  if (error != std::errc{} || rest != text.data() + text.size()) {
    throw Error(ErrorKind::usage, fmt::format("'random:{}': the seed must be a number", text));
  }
  return spec;
}

template <typename T>
void fill(TensorView tensor, T value) {
  std::ranges::fill(tensor.span<T>(), value);
}

void fill_constant(TensorView tensor, std::string_view text) {
  double real = 0;
  const bool truth = text == "true" || text == "false";
  if (truth) real = text == "true" ? 1 : 0;
  std::int64_t whole = 0;
  const auto as_whole = std::from_chars(text.data(), text.data() + text.size(), whole);
  const bool is_whole =
      truth || (as_whole.ec == std::errc{} && as_whole.ptr == text.data() + text.size());
  if (truth) whole = static_cast<std::int64_t>(real);
  if (!truth) {
    const auto as_real = std::from_chars(text.data(), text.data() + text.size(), real);
    if (as_real.ec != std::errc{} || as_real.ptr != text.data() + text.size()) {
      throw Error(ErrorKind::usage, fmt::format("'{}' is not a number", text));
    }
  }
  if (!is_floating(tensor.type) && !is_whole) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a whole number, which {} needs", text,
                                              element_name(tensor.type)));
  }
  switch (tensor.type) {
    case ElementType::f64:
      fill(tensor, real);
      break;
    case ElementType::f32:
      fill(tensor, static_cast<float>(real));
      break;
    case ElementType::f16:
    case ElementType::bf16:
      fill(tensor, half_bits(tensor.type, static_cast<float>(real)));
      break;
    case ElementType::i64:
      fill(tensor, whole);
      break;
    case ElementType::u64:
      fill(tensor, static_cast<std::uint64_t>(whole));
      break;
    case ElementType::i32:
      fill(tensor, static_cast<std::int32_t>(whole));
      break;
    case ElementType::u32:
      fill(tensor, static_cast<std::uint32_t>(whole));
      break;
    case ElementType::i16:
      fill(tensor, static_cast<std::int16_t>(whole));
      break;
    case ElementType::u16:
      fill(tensor, static_cast<std::uint16_t>(whole));
      break;
    case ElementType::i8:
      fill(tensor, static_cast<std::int8_t>(whole));
      break;
    case ElementType::u8:
      fill(tensor, static_cast<std::uint8_t>(whole));
      break;
    case ElementType::boolean:
      fill(tensor, static_cast<std::uint8_t>(whole != 0));
      break;
    default:
      fail_internal("a constant of this type cannot be made");
  }
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File open_file(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"),
            [](std::FILE* f) { return f == nullptr ? 0 : std::fclose(f); });
  if (!file) fail_input(fmt::format("'{}' cannot be opened: {}", path, std::strerror(errno)));
  return file;
}

NpyHeader read_npy_header(std::FILE* file, const std::string& path) {
  // Fields of a header are few; NumPy itself refuses more than 10,000 bytes.
  std::string head(16 * 1024, '\0');
  head.resize(std::fread(head.data(), 1, head.size(), file));
  if (std::fseek(file, 0, SEEK_END) != 0) fail_input(fmt::format("'{}' cannot be read", path));
  const long size = std::ftell(file);
  return parse_npy_header(head, size < 0 ? 0 : static_cast<std::uint64_t>(size), path);
}

ItemResult read_npy(const Engine& engine, const std::string& path) {
  const File file = open_file(path);
  const NpyHeader header = read_npy_header(file.get(), path);
  auto item = allocate_item(engine, header.type, header.shape, "input '" + path + "'");
  if (!item) return item;
  std::fseek(file.get(), static_cast<long>(header.data_offset), SEEK_SET);
  const std::size_t bytes = item->view().bytes();
  if (std::fread(item->memory.data.get(), 1, bytes, file.get()) != bytes) {
    fail_input(fmt::format("'{}' ended while it was read", path));
  }
  return item;
}

bool is_image(std::string_view text) {
  return text.ends_with(".png") || text.ends_with(".jpg") || text.ends_with(".jpeg");
}

}  // namespace

void fill_random(TensorView tensor, std::uint64_t seed, std::size_t input_number) {
  // SplitMix64 (Steele, Lea and Flood, 2014), one stream per input.
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + input_number * 0xD1B54A32D192ED03ULL;
  const auto next = [&state] {
    state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  };
  const std::int64_t count = tensor.elements();
  for (std::int64_t index = 0; index < count; ++index) {
    const std::uint64_t bits = next();
    const float uniform = static_cast<float>(bits >> 40) * 0x1p-24F;
    switch (tensor.type) {
      case ElementType::f32:
        tensor.as<float>()[index] = uniform;
        break;
      case ElementType::f64:
        tensor.as<double>()[index] = static_cast<double>(bits >> 11) * 0x1p-53;
        break;
      case ElementType::f16:
      case ElementType::bf16:
        tensor.as<std::uint16_t>()[index] = half_bits(tensor.type, uniform);
        break;
      default: {
        const std::int64_t bit = static_cast<std::int64_t>(bits >> 63);
        std::memcpy(tensor.data + static_cast<std::size_t>(index) * element_size(tensor.type), &bit,
                    element_size(tensor.type));
      }
    }
  }
}

std::optional<ValueType> peek_value(const ValueRequest& request) {
  const std::string& text = request.text;
  if (text.ends_with(".npy")) {
    const File file = open_file(text);
    const NpyHeader header = read_npy_header(file.get(), text);
    return ValueType{header.type, header.shape};
  }
  if (text.ends_with(".pb")) {
    const OnnxValueFile file = OnnxValueFile::open(text);
    if (file.is_sequence() || file.is_absent()) return std::nullopt;
    return ValueType{file.items().at(0).type, file.items().at(0).shape};
  }
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    return parse_type(text.substr(0, equals));
  }
  if (request.shape && (is_image(text) || parse_random(text))) {
    return ValueType{request.element, *request.shape};
  }
  return std::nullopt;
}

std::expected<InputValue, Refusal> decode_value(const Engine& engine, const ValueRequest& request) {
  const std::string& text = request.text;
  if (text.ends_with(".npy")) return single(read_npy(engine, text));
  if (text.ends_with(".pb")) {
    const OnnxValueFile file = OnnxValueFile::open(text);
    InputValue value;
    value.is_sequence = file.is_sequence();
    value.is_absent = file.is_absent();
    for (std::size_t index = 0; index < file.items().size(); ++index) {
      const OnnxValueFile::Item& tensor = file.items()[index];
      auto item = allocate_item(engine, tensor.type, tensor.shape, "input '" + text + "'");
      if (!item) return std::unexpected(std::move(item.error()));
      if (tensor.shape.elements() != 0) file.read(index, item->memory.data.get());
      value.items.push_back(std::move(*item));
    }
    return value;
  }
  if (is_image(text)) {
    if (!request.shape) {
      fail_input(fmt::format(
          "'{}': the input's shape is not fixed by the model; give it with --shape or --dim",
          text));
    }
    auto item = allocate_item(engine, request.element, *request.shape, "input '" + text + "'");
    if (!item) return std::unexpected(std::move(item.error()));
    read_image(text, {item->type, item->shape, item->memory.data.get()}, request.range);
    return single(std::move(item));
  }
  if (const auto random = parse_random(text)) {
    if (!request.shape || request.element == ElementType::undefined) {
      fail_input(
          fmt::format("'{}': the input's shape is not known; give it as in "
                      "1x512xf32=random:1",
                      text));
    }
    auto item = allocate_item(engine, request.element, *request.shape, "random input");
    if (!item) return std::unexpected(std::move(item.error()));
    fill_random({item->type, item->shape, item->memory.data.get()}, random->seed,
                request.input_number);
    return single(std::move(item));
  }
  const std::size_t equals = text.find('=');
  const auto type = equals == std::string::npos ? std::nullopt : parse_type(text.substr(0, equals));
  if (!type) {
    fail_input(
        fmt::format("'{}' is no value: give a .npy, .pb, .png or .jpg file, a constant such "
                    "as 1x3x8x8xf32=0.5, or random:SEED",
                    text));
  }
  auto item = allocate_item(engine, type->type, type->shape, "input '" + text + "'");
  if (!item) return std::unexpected(std::move(item.error()));
  const TensorView view{item->type, item->shape, item->memory.data.get()};
  const std::string constant = text.substr(equals + 1);
  if (const auto random = parse_random(constant)) {
    fill_random(view, random->seed, request.input_number);
  } else {
    fill_constant(view, constant);
  }
  return single(std::move(item));
}

}  // namespace plimsoll::cli
