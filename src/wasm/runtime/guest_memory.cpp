#include "wasm/runtime/guest_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace plimsoll::wasm {
namespace {

Refusal refused_by_kernel(const memory::Budget& budget, std::uint64_t bytes) {
  Refusal refusal;
  refusal.budget = budget.path();
  refusal.purpose = "memory of the guest";
  refusal.requested_bytes = bytes;
  refusal.by_kernel = true;
  return refusal;
}

void* reserve(std::uint64_t bytes) {
  return ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

GuestMemory::GuestMemory(const MemoryType& type, memory::Reservation claim) noexcept
    : type_(type), claim_(std::move(claim)) {}

std::expected<std::unique_ptr<GuestMemory>, Refusal> GuestMemory::create(
    const std::shared_ptr<memory::Budget>& budget, const MemoryType& type, bool with_guard) {
  const std::uint64_t pages = type.limits.minimum;
  if (pages > (UINT64_MAX >> 1U) / wasm_page_bytes) {
    return std::unexpected(refused_by_kernel(*budget, UINT64_MAX));
  }
  const std::uint64_t bytes = pages * wasm_page_bytes;
  auto claim = budget->reserve(bytes, "memory of the guest");
  if (!claim) return std::unexpected(std::move(claim.error()));
  std::unique_ptr<GuestMemory> made(new GuestMemory(type, std::move(*claim)));
  made->budget_ = budget;
  if (with_guard && !type.limits.is_64) {
    void* base = reserve(guarded_bytes);
    if (base != MAP_FAILED) {
      made->view_.base = static_cast<std::byte*>(base);
      made->mapped_ = guarded_bytes;
      made->has_guard_ = true;
    }
  }
  if (!made->make_accessible(bytes)) return std::unexpected(refused_by_kernel(*budget, bytes));
  return made;
}

GuestMemory::~GuestMemory() {
  if (mapped_ != 0) ::munmap(view_.base, mapped_);
}

bool GuestMemory::make_accessible(std::uint64_t bytes) {
  if (has_guard_) {
    if (bytes > view_.bytes &&
        ::mprotect(view_.base + view_.bytes, bytes - view_.bytes, PROT_READ | PROT_WRITE) != 0) {
      return false;
    }
  } else if (bytes > mapped_) {
    void* base = mapped_ == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                              : ::mremap(view_.base, mapped_, bytes, MREMAP_MAYMOVE);
    if (base == MAP_FAILED) return false;
    view_.base = static_cast<std::byte*>(base);
    mapped_ = bytes;
  }
  view_.bytes = bytes;
  return true;
}

std::int64_t GuestMemory::grow(std::uint64_t pages) {
  const std::uint64_t before = this->pages();
  // Without a maximum: as much as an index can reach, or half of the address space.
  const std::uint64_t most = type_.limits.is_64 ? std::uint64_t{1} << 31U : 65'536;
  const std::uint64_t limit =
      type_.limits.has_maximum ? std::min(most, type_.limits.maximum) : most;
  if (before > limit || pages > limit - before) return -1;
  if (pages == 0) return static_cast<std::int64_t>(before);
  const std::uint64_t bytes = (before + pages) * wasm_page_bytes;
  if (claim_.bytes() == 0) {
    auto claim = budget_->reserve(bytes, "memory of the guest");
    if (!claim) return -1;
    claim_ = std::move(*claim);
  } else if (!claim_.resize(bytes)) {
    return -1;
  }
  if (!make_accessible(bytes)) {
    std::ignore = claim_.resize(before * wasm_page_bytes);
    return -1;
  }
  return static_cast<std::int64_t>(before);
}

}  // namespace plimsoll::wasm
