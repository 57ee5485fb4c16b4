#include "tensor/graph/stored_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

constexpr std::size_t buffer_bytes = 16 * 1024;

void store_integer(ElementType type, std::int64_t value, std::byte* destination) {
  // Little-endian: the low bytes of the value are the value of the narrower type.
  std::memcpy(destination, &value, element_size(type));
}

/// Decodes packed varints from a reader of consecutive bytes.
void read_varints(const StoredTensor& tensor, const FileRange& range, std::int64_t count,
                  std::byte* destination) {
  std::array<std::byte, buffer_bytes> buffer;
  std::uint64_t offset = range.offset;
  const std::uint64_t end = range.offset + range.length;
  const std::size_t width = element_size(tensor.type);
  std::uint64_t value = 0;
  int shift = 0;
  std::int64_t done = 0;
  while (offset < end && done < count) {
    const std::size_t chunk = std::min<std::uint64_t>(buffer.size(), end - offset);
    range.file->read(offset, std::span(buffer).first(chunk));
    offset += chunk;
    for (std::size_t index = 0; index < chunk && done < count; ++index) {
      const auto byte = std::to_integer<std::uint64_t>(buffer[index]);
      if (shift > 63) fail_input(fmt::format("tensor '{}': a varint is overlong", tensor.name));
      value |= (byte & 0x7F) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      store_integer(tensor.type, static_cast<std::int64_t>(value),
                    destination + static_cast<std::size_t>(done) * width);
      ++done;
      value = 0;
      shift = 0;
    }
  }
  if (done != count) {
    fail_input(fmt::format("tensor '{}' of shape {} has only {} values in '{}'", tensor.name,
                           tensor.shape.to_string(), done, range.file->path()));
  }
}

}  // namespace

std::uint64_t StoredTensor::source_bytes() const {
  if (const auto* range = std::get_if<FileRange>(&source)) return range->length;
  if (const auto* small = std::get_if<SmallBytes>(&source)) return small->size();
  if (const auto* splat = std::get_if<Splat>(&source)) return splat->pattern.size();
  return 0;
}

void StoredTensor::read(std::int64_t first, std::int64_t count, std::byte* destination) const {
  if (first < 0 || count < 0 || first > shape.elements() - count) {
    fail_internal(fmt::format("tensor '{}': elements {} to {} are outside {}", name, first,
                              first + count, shape.to_string()));
  }
  const std::size_t width = element_size(type);
  const auto bytes = static_cast<std::size_t>(count) * width;
  if (const auto* small = std::get_if<SmallBytes>(&source)) {
    std::memcpy(destination, small->data() + static_cast<std::size_t>(first) * width, bytes);
    return;
  }
  if (const auto* splat = std::get_if<Splat>(&source)) {
    for (std::int64_t index = 0; index < count; ++index) {
      std::memcpy(destination + static_cast<std::size_t>(index) * width, splat->pattern.data(),
                  width);
    }
    return;
  }
  if (const auto* range = std::get_if<FileRange>(&source)) {
    if (storage.form == StorageType::Form::varint) {
      if (first != 0) fail_internal("varint storage is read from its start");
      read_varints(*this, *range, count, destination);
      return;
    }
    if (storage.form == StorageType::Form::dense && storage.element == type) {
      range->file->read(range->offset + static_cast<std::uint64_t>(first) * width,
                        {destination, bytes});
      return;
    }
    fail_unsupported(
        fmt::format("tensor '{}': its storage cannot be read as {}", name, element_name(type)));
  }
  fail_input(fmt::format("tensor '{}' is not bound to any data", name));
}

}  // namespace plimsoll::tensor
