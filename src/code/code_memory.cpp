#include "code/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace plimsoll::code {
namespace {

constexpr std::uint64_t alignment = 16;
/// Bytes that are visible twice at a time while code is written.
constexpr std::uint64_t chunk_bytes = 64 * 1024;

std::uint64_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

Refusal refused_by_kernel(const memory::Budget& budget, const char* purpose, std::uint64_t bytes) {
  Refusal refusal;
  refusal.budget = budget.path();
  refusal.purpose = purpose;
  refusal.requested_bytes = bytes;
  refusal.by_kernel = true;
  return refusal;
}

}  // namespace

std::expected<std::unique_ptr<CodeMemory>, Refusal> CodeMemory::create(
    const std::shared_ptr<memory::Budget>& budget, std::uint64_t capacity_bytes) {
  const std::uint64_t capacity = round_up(std::max<std::uint64_t>(capacity_bytes, 1), page_bytes());
  const int file = ::memfd_create("plimsoll code", MFD_CLOEXEC);
  if (file < 0) return std::unexpected(refused_by_kernel(*budget, "a file for code", capacity));
  void* base = MAP_FAILED;
  if (::ftruncate(file, static_cast<off_t>(capacity)) == 0) {
    base = ::mmap(nullptr, capacity, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  }
  if (base == MAP_FAILED) {
    ::close(file);
    return std::unexpected(refused_by_kernel(*budget, "address space for code", capacity));
  }
  try {
    return std::unique_ptr<CodeMemory>(
        new CodeMemory(budget, file, static_cast<std::byte*>(base), capacity));
  } catch (...) {
    ::munmap(base, capacity);
    ::close(file);
    throw;
  }
}

CodeMemory::CodeMemory(std::shared_ptr<memory::Budget> budget, int file, std::byte* base,
                       std::uint64_t capacity) noexcept
    : budget_(std::move(budget)), file_(file), base_(base), capacity_(capacity) {}

CodeMemory::~CodeMemory() {
  ::munmap(base_, capacity_);
  ::close(file_);
}

std::uint64_t CodeMemory::used_bytes() const {
  const std::scoped_lock lock(mutex_);
  return used_;
}

std::expected<void, Refusal> CodeMemory::claim_to(std::uint64_t end) {
  const std::uint64_t wanted = round_up(end, page_bytes());
  if (wanted <= claim_.bytes()) return {};
  if (claim_.bytes() != 0) return claim_.resize(wanted);
  auto claim = budget_->reserve(wanted, "compiled code");
  if (!claim) return std::unexpected(std::move(claim.error()));
  claim_ = std::move(*claim);
  return {};
}

std::expected<void, Refusal> CodeMemory::write(std::uint64_t offset,
                                               std::span<const std::byte> code) const {
  while (!code.empty()) {
    const std::uint64_t page = offset / page_bytes() * page_bytes();
    const std::uint64_t before = offset - page;
    const std::size_t count = std::min<std::size_t>(code.size(), chunk_bytes - before);
    const std::uint64_t mapped = before + count;
    void* view = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                        static_cast<off_t>(page));
    if (view == MAP_FAILED) {
      return std::unexpected(refused_by_kernel(*budget_, "a view to write code", mapped));
    }
    std::memcpy(static_cast<std::byte*>(view) + before, code.data(), count);
    ::munmap(view, mapped);
    code = code.subspan(count);
    offset += count;
  }
  return {};
}

std::expected<const std::byte*, Refusal> CodeMemory::add(std::span<const std::byte> code) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t begin = round_up(used_, alignment);
  if (begin > capacity_ || code.size() > capacity_ - begin) {
    Refusal refusal;
    refusal.budget = budget_->path();
    refusal.purpose = "address space for code";
    refusal.requested_bytes = code.size();
    refusal.available_bytes = capacity_ - std::min(begin, capacity_);
    return std::unexpected(std::move(refusal));
  }
  if (auto claimed = claim_to(begin + code.size()); !claimed) {
    return std::unexpected(std::move(claimed.error()));
  }
  if (auto written = write(begin, code); !written) {
    return std::unexpected(std::move(written.error()));
  }
  used_ = begin + code.size();
  return base_ + begin;
}

}  // namespace plimsoll::code
