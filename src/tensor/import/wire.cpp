#include "tensor/import/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

/// Protobuf's own readers stop at 100 levels; a graph in a branch in a loop takes about 5 a level.
constexpr int deepest_nesting = 100;

}  // namespace

WireReader::WireReader(std::shared_ptr<const SourceFile> file)
    : file_(std::move(file)), buffer_(buffer_bytes), end_(file_->size()) {}

void WireReader::fail(const std::string& what) const {
  fail_input(fmt::format("'{}' is damaged at byte {}: {}", file_->path(), position_, what));
}

std::uint8_t WireReader::byte() {
  if (position_ >= end_) fail("a field ends in the middle; the file was cut or is no ONNX model");
  if (position_ < buffer_start_ || position_ >= buffer_start_ + buffer_length_) {
    buffer_start_ = position_;
    buffer_length_ = std::min<std::uint64_t>(buffer_.size(), file_->size() - position_);
    file_->read(buffer_start_, std::span(buffer_).first(buffer_length_));
  }
  return std::to_integer<std::uint8_t>(buffer_[position_++ - buffer_start_]);
}

bool WireReader::next(Field& field) {
  if (position_ >= end_) return false;
  const std::uint64_t key = varint();
  field = {static_cast<std::uint32_t>(key >> 3), static_cast<std::uint32_t>(key & 7)};
  if (key >> 3 == 0 || key >> 3 > 536870911) fail("a field number is out of range");
  return true;
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint64_t part = byte();
    value |= (part & 0x7F) << shift;
    if ((part & 0x80) == 0) return value;
  }
  fail("a number is longer than 10 bytes");
}

std::uint32_t WireReader::fixed32() {
  std::uint32_t value = 0;
  for (int shift = 0; shift < 32; shift += 8) value |= std::uint32_t{byte()} << shift;
  return value;
}

std::uint64_t WireReader::fixed64() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 8) value |= std::uint64_t{byte()} << shift;
  return value;
}

std::uint64_t WireReader::length() {
  const std::uint64_t value = varint();
  if (value > end_ - position_) {
    fail(fmt::format("a field of {} bytes does not fit in the {} that are left; the file was cut",
                     value, end_ - position_));
  }
  return value;
}

std::string WireReader::text(std::size_t limit) {
  const std::uint64_t bytes = length();
  if (bytes > limit) fail(fmt::format("a name of {} bytes is longer than {}", bytes, limit));
  std::string result(bytes, '\0');
  for (char& c : result) c = static_cast<char>(byte());
  return result;
}

void WireReader::skip_bytes(std::uint64_t count) {
  if (count > end_ - position_) fail("a field does not fit in its message; the file was cut");
  position_ += count;
}

void WireReader::skip(const Field& field) {
  switch (field.wire_type) {
    case 0:
      (void)varint();
      break;
    case 1:
      skip_bytes(8);
      break;
    case 2:
      skip_bytes(length());
      break;
    case 5:
      skip_bytes(4);
      break;
    default:
      fail(fmt::format("wire type {} is not used by ONNX", field.wire_type));
  }
}

std::uint64_t WireReader::enter(std::uint64_t bytes) {
  if (++depth_ > deepest_nesting) fail("messages are nested more than 100 levels deep");
  const std::uint64_t outer = end_;
  end_ = position_ + bytes;
  return outer;
}

void WireReader::leave(std::uint64_t outer_end) {
  --depth_;
  position_ = end_;
  end_ = outer_end;
}

}  // namespace plimsoll::tensor
