#include "tensor/graph/stored_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "plimsoll/error.h"
#include "tensor/graph/half.h"
#include "tensor/graph/varint.h"

namespace plimsoll::tensor {
namespace {

// What a thread's stack of 256 KiB spares easily, and long enough that a read call costs little per
// byte.
constexpr std::size_t window_bytes = 16 * 1024;

[[noreturn]] void fail_read(const StoredTensor& tensor, ErrorKind kind, std::string_view why) {
  throw Error(kind, fmt::format("tensor '{}': {}", tensor.name, why));
}

// Bytes of a dense source, at `offset` from its start.
void read_dense(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> to) {
  if (const auto* range = std::get_if<FileRange>(&tensor.source)) {
    if (offset > range->length || to.size() > range->length - offset) {
      fail_read(tensor, ErrorKind::bad_input, "its data is shorter than its shape says");
    }
    range->file->read(range->offset + offset, to);
  } else if (const auto* bytes = std::get_if<SmallBytes>(&tensor.source)) {
    if (offset > bytes->size() || to.size() > bytes->size() - offset) {
      fail_read(tensor, ErrorKind::bad_input, "its data is shorter than its shape says");
    }
    if (!to.empty()) std::memcpy(to.data(), bytes->data() + offset, to.size());
  } else {
    const auto& pattern = std::get<Splat>(tensor.source).pattern;
    if (pattern.size() != element_size(tensor.storage.element)) {
      fail_read(tensor, ErrorKind::internal, "its pattern is not one element");
    }
    for (std::size_t at = 0; at < to.size(); at += pattern.size()) {
      std::memcpy(to.data() + at, pattern.data(), std::min(pattern.size(), to.size() - at));
    }
  }
}

void normalize_bools(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = byte == std::byte{0} ? std::byte{0} : std::byte{1};
}

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

double load_float(ElementType type, const std::byte* from) {
  switch (type) {
    case ElementType::f16:
      return static_cast<double>(to_float(load<Float16>(from)));
    case ElementType::bf16:
      return static_cast<double>(to_float(load<BFloat16>(from)));
    case ElementType::f32:
      return static_cast<double>(load<float>(from));
    default:
      return load<double>(from);
  }
}

void store_float(ElementType type, double value, std::byte* to) {
  switch (type) {
    case ElementType::f16:
      return store(to, to_float16(value));
    case ElementType::bf16:
      return store(to, to_bfloat16(value));
    case ElementType::f32:
      return store(to, static_cast<float>(value));
    default:
      return store(to, value);
  }
}

void read_converted(const StoredTensor& tensor, std::uint64_t first, std::uint64_t count,
                    std::byte* destination) {
  const std::size_t from_size = element_size(tensor.storage.element);
  const std::size_t to_size = element_size(tensor.type);
  std::array<std::byte, window_bytes> window;
  const std::uint64_t step = window_bytes / from_size;
  for (std::uint64_t done = 0; done < count; done += step) {
    const auto some = static_cast<std::size_t>(std::min(step, count - done));
    read_dense(tensor, (first + done) * from_size, {window.data(), some * from_size});
    for (std::size_t i = 0; i < some; ++i) {
      const double value = load_float(tensor.storage.element, window.data() + i * from_size);
      store_float(tensor.type, value, destination + (done + i) * to_size);
    }
  }
}

void read_varints(const StoredTensor& tensor, std::uint64_t count, std::byte* destination) {
  const std::size_t size = element_size(tensor.type);
  const std::uint64_t source_bytes = tensor.source_bytes();
  std::array<std::byte, window_bytes> window;
  VarintDecoder decoder;
  std::uint64_t done = 0;
  for (std::uint64_t offset = 0; offset < source_bytes && done < count;) {
    const auto some =
        static_cast<std::size_t>(std::min<std::uint64_t>(window.size(), source_bytes - offset));
    read_dense(tensor, offset, {window.data(), some});
    offset += some;
    for (std::size_t at = 0; at < some && done < count; ++at) {
      if (!decoder.push(window[at])) continue;
      store_integer(tensor.type, decoder.value(), destination + done * size);
      ++done;
    }
    if (decoder.too_long()) break;
  }
  if (done != count) {
    fail_read(tensor, ErrorKind::bad_input,
              fmt::format("its data holds {} numbers where {} are needed, or is damaged: save the "
                          "model again",
                          done, count));
  }
}

}  // namespace

std::uint64_t StoredTensor::source_bytes() const {
  if (const auto* range = std::get_if<FileRange>(&source)) return range->length;
  if (const auto* bytes = std::get_if<SmallBytes>(&source)) return bytes->size();
  if (const auto* splat = std::get_if<Splat>(&source)) return splat->pattern.size();
  return 0;
}

void StoredTensor::read(std::int64_t first, std::int64_t count, std::byte* destination) const {
  if (const auto* unreadable = std::get_if<Unreadable>(&source)) {
    fail_read(*this, ErrorKind::unsupported, unreadable->reason);
  }
  if (std::holds_alternative<Unbound>(source)) {
    fail_read(*this, ErrorKind::bad_input, "no archive gives it a value: name one that does");
  }
  if (first < 0 || count < 0 || first > shape.elements() || count > shape.elements() - first) {
    fail_read(*this, ErrorKind::internal, "a part outside of it was asked for");
  }
  const auto from = static_cast<std::uint64_t>(first);
  const auto many = static_cast<std::uint64_t>(count);
  const std::size_t size = element_size(type);
  switch (storage.form) {
    case StorageType::Form::varint:
      if (first != 0) fail_read(*this, ErrorKind::internal, "varints are read from the first on");
      return read_varints(*this, many, destination);
    case StorageType::Form::blocks:
      fail_read(*this, ErrorKind::unsupported, "quantised blocks cannot be read as elements");
    case StorageType::Form::dense:
      break;
  }
  if (storage.element == type) {
    const std::span<std::byte> to(destination, static_cast<std::size_t>(many) * size);
    read_dense(*this, from * size, to);
    if (type == ElementType::boolean) normalize_bools(to);
  } else if (is_floating(storage.element) && is_floating(type)) {
    read_converted(*this, from, many, destination);
  } else {
    fail_read(*this, ErrorKind::unsupported,
              fmt::format("stored as {} it cannot be read as {}", element_name(storage.element),
                          element_name(type)));
  }
}

}  // namespace plimsoll::tensor
