#include "support/failing_allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::int64_t never = INT64_MAX;
thread_local std::int64_t left = never;  // until an allocation fails
thread_local bool has_failed = false;
thread_local std::int64_t live = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (left != never && --left <= 0) {
    left = 0;
    has_failed = true;
    throw std::bad_alloc();
  }
  void* block =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes == 0 ? 1 : bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  ++live;
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  --live;
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes, 1);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
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

namespace plimsoll::tensor::test {

FailingAllocations::FailingAllocations(std::int64_t number) {
  has_failed = false;
  left = number;
}

FailingAllocations::~FailingAllocations() {
  left = never;
}

bool FailingAllocations::failed() const {
  return has_failed;
}

std::int64_t live_allocations() {
  return live;
}

}  // namespace plimsoll::tensor::test
