#include "tensor/archive/file_window.h"

#include <algorithm>
#include <bit>

#include "plimsoll/error.h"

namespace plimsoll::tensor {

static_assert(std::endian::native == std::endian::little, "numbers of archives are copied");

std::span<const std::byte> FileWindow::at(std::uint64_t offset, std::size_t length) {
  if (length > capacity) fail_internal("a piece of an index is larger than the window");
  if (offset < begin_ || offset - begin_ > filled_ || length > filled_ - (offset - begin_)) {
    constexpr std::uint64_t small = 4096;  // for a jump
    const std::uint64_t end = begin_ + filled_;
    const bool goes_on = offset >= begin_ && offset <= end + small;
    std::uint64_t wanted = goes_on ? capacity : std::max<std::uint64_t>(length, small);
    const std::uint64_t left = offset < file_->size() ? file_->size() - offset : 0;
    wanted = std::max<std::uint64_t>(std::min(wanted, left), length);
    filled_ = 0;  // a fault below leaves the window empty
    file_->read(offset, std::span(buffer_).first(static_cast<std::size_t>(wanted)));
    begin_ = offset;
    filled_ = static_cast<std::size_t>(wanted);
  }
  return std::span(buffer_).subspan(static_cast<std::size_t>(offset - begin_), length);
}

}  // namespace plimsoll::tensor
