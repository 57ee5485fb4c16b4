#include "tensor/import/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"

namespace plimsoll::tensor {

WireReader::WireReader(std::shared_ptr<const SourceFile> file, StructureLimit& limit)
    : file_(std::move(file)),
      limit_(limit),
      buffer_(static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, file_->size()))),
      end_(file_->size()) {}

void WireReader::fail(const std::string& what) const {
  fail_input(fmt::format("it is damaged at byte {}: {}; fetch it again or export it anew",
                         position_, what));
}

void WireReader::fill() {
  if (position_ == end_) fail("a value ends in the middle; the file was cut");
  buffer_start_ = position_;
  const std::uint64_t some = std::min<std::uint64_t>(buffer_.size(), file_->size() - position_);
  file_->read(position_, {buffer_.data(), static_cast<std::size_t>(some)});
  buffer_end_ = position_ + some;
}

std::uint8_t WireReader::byte() {
  // position_ only moves forward, so it is never before the buffer.
  if (position_ >= buffer_end_ || position_ == end_) fill();
  return std::to_integer<std::uint8_t>(
      buffer_[static_cast<std::size_t>(position_++ - buffer_start_)]);
}

std::uint64_t WireReader::raw_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t part = byte();
    value |= (part & 0x7FU) << shift;
    if ((part & 0x80U) == 0) return value;
  }
  fail("a number is longer than 10 bytes");
}

float WireReader::raw_float() {
  std::uint32_t bits = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) bits |= std::uint32_t{byte()} << shift;
  return std::bit_cast<float>(bits);
}

void WireReader::skip_bytes(std::uint64_t bytes) {
  if (bytes > end_ - position_) {
    fail(fmt::format("{} bytes are needed, but only {} are left; the file was cut", bytes,
                     end_ - position_));
  }
  position_ += bytes;
}

bool WireReader::next(Field& field) {
  if (at_end()) return false;
  const std::uint64_t key = raw_varint();
  constexpr std::uint64_t largest_number = 536'870'911;  // 29 bits
  if (key >> 3 == 0 || key >> 3 > largest_number) fail("a field number is out of range");
  field = {static_cast<std::uint32_t>(key >> 3), static_cast<std::uint32_t>(key & 7U)};
  return true;
}

void WireReader::expect(const Field& field, WireType type) const {
  if (field.wire_type == type) return;
  fail(fmt::format("field {} has wire type {} where ONNX has {}", field.number, field.wire_type,
                   static_cast<std::uint32_t>(type)));
}

std::uint64_t WireReader::varint(const Field& field) {
  expect(field, varint_type);
  return raw_varint();
}

float WireReader::real(const Field& field) {
  expect(field, fixed32_type);
  return raw_float();
}

std::uint64_t WireReader::length(const Field& field) {
  expect(field, bytes_type);
  const std::uint64_t value = raw_varint();
  if (value > end_ - position_) {
    fail(fmt::format("a field of {} bytes does not fit in the {} that are left; the file was cut",
                     value, end_ - position_));
  }
  return value;
}

std::string WireReader::text(const Field& field, std::size_t most, const char* what) {
  const std::uint64_t bytes = length(field);
  if (bytes > most) fail(fmt::format("{} of {} bytes is longer than {}", what, bytes, most));
  limit_.charge(bytes);
  std::string result(static_cast<std::size_t>(bytes), '\0');
  read_bytes(std::as_writable_bytes(std::span(result)));
  return result;
}

WireReader::Range WireReader::skip_payload(const Field& field) {
  const std::uint64_t bytes = length(field);
  const Range range{position_, bytes};
  skip_bytes(bytes);
  return range;
}

void WireReader::read_bytes(std::span<std::byte> destination) {
  while (!destination.empty()) {
    if (position_ >= buffer_end_ || position_ == end_) fill();
    const std::uint64_t some =
        std::min<std::uint64_t>({destination.size(), buffer_end_ - position_, end_ - position_});
    std::memcpy(destination.data(), buffer_.data() + (position_ - buffer_start_),
                static_cast<std::size_t>(some));
    position_ += some;
    destination = destination.subspan(static_cast<std::size_t>(some));
  }
}

void WireReader::skip(const Field& field) {
  switch (field.wire_type) {
    case varint_type:
      (void)raw_varint();
      return;
    case fixed64_type:
      return skip_bytes(8);
    case bytes_type:
      return skip_bytes(length(field));
    case fixed32_type:
      return skip_bytes(4);
    default:
      fail(fmt::format("wire type {} is not used by ONNX", field.wire_type));
  }
}

void WireReader::enter(std::uint64_t bytes) {
  if (depth_ == deepest_nesting) {
    fail(fmt::format("messages are nested more than {} levels deep", deepest_nesting));
  }
  ++depth_;
  end_ = position_ + bytes;
}

}  // namespace plimsoll::tensor
