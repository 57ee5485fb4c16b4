#include "support/new_failure.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>

namespace plimsoll::test {
namespace {

thread_local std::uint64_t fail_in = 0;  // 0: not armed
thread_local bool fired = false;
std::atomic<std::int64_t> live{0};

/// Null where this allocation is to fail, or malloc fails.
void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fail_in != 0 && --fail_in == 0) {
    fired = true;
    return nullptr;
  }
  if (bytes == 0) bytes = 1;
  void* block = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    block = std::malloc(bytes);  // NOLINT: this is operator new
  } else if (posix_memalign(&block, alignment, bytes) != 0) {
    block = nullptr;
  }
  if (block != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* block = allocate(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);  // NOLINT: this is operator delete
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

NewFailure::NewFailure(std::uint64_t nth) noexcept {
  fired = false;
  fail_in = nth;
}
NewFailure::~NewFailure() {
  fail_in = 0;
}
bool NewFailure::has_fired() const noexcept {
  return fired;
}
void NewFailure::disarm() noexcept {
  fail_in = 0;
}

std::int64_t live_allocations() noexcept {
  return live.load(std::memory_order_relaxed);
}

NewFailures for_each_failed_new(const std::function<void()>& body, std::uint64_t most) {
  body();
  body();
  NewFailures result;
  for (std::uint64_t nth = 1; nth <= most; ++nth) {
    const std::int64_t before = live_allocations();
    bool reached = false;
    try {
      const NewFailure failure(nth);
      struct Note {  // also when an exception passes
        bool& reached;
        const NewFailure& failure;
        ~Note() { reached = failure.has_fired(); }
      } note{reached, failure};
      body();
    } catch (...) {  // NOLINT: what it throws is the caller's to judge, in the body
      ++result.caught;
    }
    if (!reached) return result;
    ++result.failed;
    if (live_allocations() > before) ++result.leaked;
  }
  return result;
}

}  // namespace plimsoll::test

// The replaced functions, [new.delete] of the C++ standard. All forms, since a sanitizer's runtime
// brings its own for those that are not replaced.
using plimsoll::test::allocate;
using plimsoll::test::allocate_or_throw;
using plimsoll::test::release;
using plimsoll::test::usual;

void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, usual);
}
void* operator new[](std::size_t bytes) {
  return allocate_or_throw(bytes, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, usual);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete[](void* block) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  release(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  release(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  release(block);
}
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  release(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  release(block);
}
