#include "memory/block.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace plimsoll::memory {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t huge_page_bytes = 2 * 1024 * 1024;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Block::Block(Block&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      reservation_(std::move(other.reservation_)) {}

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    mapped_ = std::exchange(other.mapped_, 0);
    reservation_ = std::move(other.reservation_);
  }
  return *this;
}

Block::~Block() {
  reset();
}

void Block::reset() noexcept {
  if (data_ != nullptr) munmap(data_, mapped_);
  data_ = nullptr;
  size_ = 0;
  mapped_ = 0;
  reservation_.release();
}

std::expected<Block, Refusal> Block::allocate(Budget& budget, std::uint64_t bytes,
                                              std::string_view purpose, HugePages huge) {
  const std::uint64_t unit = huge == HugePages::always ? huge_page_bytes : page_bytes;
  if (bytes > UINT64_MAX / 4) {
    return std::unexpected(
        Refusal{budget.path(), std::string(purpose), bytes, budget.available(), 0, {}});
  }
  const std::uint64_t mapped = round_up(bytes == 0 ? 1 : bytes, unit);
  auto reservation = budget.reserve(mapped, purpose);
  if (!reservation) return std::unexpected(std::move(reservation.error()));

  // For 2 MiB alignment a little more address space is mapped and the ends are cut off again.
  const std::uint64_t slack = huge == HugePages::always ? huge_page_bytes : 0;
  void* mapping =
      mmap(nullptr, mapped + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return std::unexpected(Refusal{
        budget.path(),
        fmt::format("{} (the kernel refused the mapping: {})", purpose, std::strerror(errno)),
        mapped,
        0,
        0,
        {}});
  }
  auto* start = static_cast<std::byte*>(mapping);
  if (slack != 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::uint64_t lead = round_up(address, huge_page_bytes) - address;
    if (lead != 0) munmap(start, lead);
    if (slack != lead) munmap(start + lead + mapped, slack - lead);
    start += lead;
  }
  madvise(start, mapped, huge == HugePages::always ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);

  Block block;
  block.data_ = start;
  block.size_ = bytes;
  block.mapped_ = mapped;
  block.reservation_ = std::move(*reservation);
  return block;
}

void Block::discard(std::uint64_t offset, std::uint64_t length) noexcept {
  if (data_ == nullptr || offset >= mapped_) return;
  const std::uint64_t end = length > mapped_ - offset ? mapped_ : offset + length;
  const std::uint64_t first = round_up(offset, page_bytes);
  const std::uint64_t last = end / page_bytes * page_bytes;
  if (first < last) madvise(data_ + first, last - first, MADV_DONTNEED);
}

}  // namespace plimsoll::memory
