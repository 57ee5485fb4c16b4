#include "memory/block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace plimsoll::memory {
namespace {

constexpr std::uint64_t huge_page_bytes = 2 * 1024 * 1024;
/// From this size on, reading the kernel's figure (about 20 µs) costs less than the unmapping.
constexpr std::uint64_t sampled_block_bytes = 1024 * 1024;

std::uint64_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Maps `bytes` of zeroed memory aligned to `alignment` (a multiple of the page); null where the
/// kernel refuses. Address space is taken without access first, which no limit on data counts, so
/// that cutting it to the alignment costs nothing that RLIMIT_DATA sees. MAP_NORESERVE is left out
/// on purpose: on a machine with strict overcommit a mapping that is granted is memory that exists.
std::byte* map_aligned(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  const std::uint64_t slack = alignment - page_bytes();
  void* mapping = mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(mapping);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uint64_t lead = round_up(address, alignment) - address;
  if (lead != 0) munmap(start, lead);
  if (slack != lead) munmap(start + lead + bytes, slack - lead);
  start += lead;
  if (mprotect(start, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(start, bytes);
    return nullptr;
  }
  return start;
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
  if (data_ != nullptr) {
    if (mapped_ >= sampled_block_bytes) reservation_.sample();
    munmap(data_, mapped_);
  }
  data_ = nullptr;
  size_ = 0;
  mapped_ = 0;
  reservation_.release();
}

std::expected<Block, Refusal> Block::allocate(Budget& budget, std::uint64_t bytes,
                                              std::string_view purpose, HugePages huge) {
  const std::uint64_t unit = huge == HugePages::always ? huge_page_bytes : page_bytes();
  if (bytes > UINT64_MAX / 4) {  // rounding it up could wrap, and no address space is that large
    return std::unexpected(
        Refusal{budget.path(), std::string(purpose), bytes, budget.available(), 0, {}, {}});
  }
  const std::uint64_t mapped = round_up(bytes == 0 ? 1 : bytes, unit);
  auto reservation = budget.reserve(mapped, purpose);
  if (!reservation) return std::unexpected(std::move(reservation.error()));

  std::byte* start = map_aligned(mapped, unit);
  if (start == nullptr) {
    return std::unexpected(
        Refusal{budget.path(), std::string(purpose), mapped, budget.available(), 0, {}, true});
  }
  // A kernel without transparent huge pages answers EINVAL: then there is nothing to choose.
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
  // The rest of the last page belongs to nobody else.
  const bool to_the_end = offset >= size_ || length >= size_ - offset;
  const std::uint64_t end = to_the_end ? mapped_ : offset + length;
  const std::uint64_t first = round_up(offset, page_bytes());
  const std::uint64_t last = end / page_bytes() * page_bytes();
  if (first < last) madvise(data_ + first, last - first, MADV_DONTNEED);
}

}  // namespace plimsoll::memory
