#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "cli/values/npy.h"
#include "plimsoll/error.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are swapped for little-endian");

/// NumPy itself refuses headers of more than 10,000 bytes unless it is told otherwise.
constexpr std::uint64_t longest_header = 64 * 1024;
constexpr std::size_t buffer_bytes = 64 * 1024;

void swap_elements(std::span<std::byte> bytes, std::size_t size) {
  if (size < 2) return;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::ranges::reverse(bytes.subspan(at, size));
  }
}

/// Any other byte than 0 and 1 is no bool to a compiler.
void make_boolean(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = byte == std::byte{0} ? std::byte{0} : std::byte{1};
}

/// Where elements that come first dimension first go in a row-major tensor.
class ColumnMajorPlace {
 public:
  explicit ColumnMajorPlace(const Shape& shape) : rank_(shape.rank()) {
    std::int64_t stride = 1;
    for (std::size_t axis = rank_; axis-- > 0;) {
      sizes_[axis] = shape[axis];
      strides_[axis] = stride;
      stride *= shape[axis];
    }
  }
  [[nodiscard]] std::int64_t offset() const { return offset_; }
  void advance() {
    for (std::size_t axis = 0; axis < rank_; ++axis) {
      offset_ += strides_[axis];
      if (++index_[axis] < sizes_[axis]) return;
      offset_ -= strides_[axis] * sizes_[axis];
      index_[axis] = 0;
    }
  }

 private:
  std::size_t rank_;
  std::array<std::int64_t, Shape::max_rank> sizes_{};
  std::array<std::int64_t, Shape::max_rank> strides_{};
  std::array<std::int64_t, Shape::max_rank> index_{};
  std::int64_t offset_ = 0;
};

/// Elements that must be converted or placed one by one pass through a buffer.
void read_through_buffer(ByteSource& source, const NpyHeader& header, TensorView destination) {
  const std::size_t size = element_size(header.type);
  const std::size_t to_size = element_size(destination.type);
  std::vector<std::byte> buffer(buffer_bytes);
  ColumnMajorPlace place(header.shape);
  const std::int64_t count = header.shape.elements();
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t piece =
        std::min<std::int64_t>(count - done, static_cast<std::int64_t>(buffer.size() / size));
    const std::span<std::byte> bytes(buffer.data(), static_cast<std::size_t>(piece) * size);
    source.read(bytes);
    if (header.big_endian) swap_elements(bytes, size);
    for (std::int64_t index = 0; index < piece; ++index) {
      const std::int64_t at = header.column_major ? place.offset() : done + index;
      const std::byte* from = bytes.data() + static_cast<std::size_t>(index) * size;
      std::byte* to = destination.data + static_cast<std::size_t>(at) * to_size;
      if (destination.type == header.type) {
        std::memcpy(to, from, size);
      } else {
        float value = 0;
        std::memcpy(&value, from, sizeof value);
        const std::uint16_t bits = half_bits(ElementType::bf16, value);
        std::memcpy(to, &bits, sizeof bits);
      }
      if (header.column_major) place.advance();
    }
    done += piece;
  }
}

}  // namespace

NpyReader::NpyReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
  const std::string& name = source_->name();
  constexpr std::string_view magic = "\x93NUMPY";
  std::array<std::byte, 12> prefix{};
  if (source_->remaining() < 10) {
    fail_input(fmt::format("'{}' is no .npy file: it has {} bytes; write it with numpy.save", name,
                           source_->remaining()));
  }
  source_->read(std::span(prefix).first(10));
  if (std::memcmp(prefix.data(), magic.data(), magic.size()) != 0) {
    fail_input(
        fmt::format("'{}' is no .npy file: it does not begin with \\x93NUMPY; write it with "
                    "numpy.save",
                    name));
  }
  const auto byte = [&](std::size_t at) { return static_cast<std::uint64_t>(prefix[at]); };
  std::uint64_t length = byte(8) | byte(9) << 8;
  if (byte(6) < 1 || byte(6) > 3) {
    fail_input(fmt::format("'{}' is of .npy version {}.{}, which is not known; versions 1 to 3 are",
                           name, byte(6), byte(7)));
  }
  if (byte(6) >= 2) {
    source_->read(std::span(prefix).subspan(10));
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > source_->remaining() || length > longest_header) {
    fail_input(
        fmt::format("'{}' claims a header of {} bytes; {} are there and {} are the most that is "
                    "read; the file is damaged",
                    name, length, source_->remaining(), longest_header));
  }
  std::string text(length, '\0');
  source_->read(std::as_writable_bytes(std::span(text)));
  header_ = parse_npy_dictionary(text, name);
  const std::uint64_t bytes =
      checked_bytes(header_.shape, element_size(header_.type), name.c_str());
  if (source_->remaining() < bytes) {
    fail_input(fmt::format(
        "'{}' is cut: shape {} of {} takes {} bytes, {} are there; write it again", name,
        header_.shape.to_string(), element_name(header_.type), bytes, source_->remaining()));
  }
}

void NpyReader::read(TensorView destination) {
  const bool same = destination.type == header_.type;
  const bool narrow = destination.type == ElementType::bf16 && header_.type == ElementType::f32;
  if (!(destination.shape == header_.shape) || !(same || narrow)) {
    fail_internal("an array was to be read to a tensor of another type or shape");
  }
  if (narrow || header_.column_major) {
    read_through_buffer(*source_, header_, destination);
  } else {
    const std::span<std::byte> bytes(destination.data, destination.bytes());
    source_->read(bytes);
    if (header_.big_endian) swap_elements(bytes, element_size(header_.type));
  }
  if (header_.type == ElementType::boolean) make_boolean({destination.data, destination.bytes()});
  source_->finish();
}

}  // namespace plimsoll::cli
