// A growing array whose memory is claimed before it is taken. Why it exists: the tables of a module
// grow with what was read, never with what a count promises, and every byte of them is in the
// ledger. May touch: memory/budget.h, decode_error.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory/budget.h"
#include "wasm/binary/decode_error.h"

namespace plimsoll::wasm {

/// Move-only. Growing throws OutOfBudget; what was there stays. While it grows both copies are
/// claimed. Elements are plain data. One thread at a time.
template <typename T>
class BudgetedVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  BudgetedVector() = default;
  BudgetedVector(std::shared_ptr<memory::Budget> budget, const char* purpose)
      : budget_(std::move(budget)), purpose_(purpose) {}

  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] T* data() noexcept { return values_.data(); }
  [[nodiscard]] const T* data() const noexcept { return values_.data(); }
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return values_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return values_[index]; }
  [[nodiscard]] T& back() noexcept { return values_.back(); }
  [[nodiscard]] const T& back() const noexcept { return values_.back(); }
  [[nodiscard]] auto begin() const noexcept { return values_.begin(); }
  [[nodiscard]] auto end() const noexcept { return values_.end(); }
  [[nodiscard]] std::span<const T> span() const noexcept { return values_; }
  [[nodiscard]] std::span<const T> span(std::size_t offset, std::size_t count) const noexcept {
    return std::span<const T>(values_).subspan(offset, count);
  }
  [[nodiscard]] std::uint64_t claimed_bytes() const noexcept { return claim_.bytes(); }

  /// Room for `capacity` elements in all.
  void reserve(std::size_t capacity) {
    if (capacity > values_.capacity()) set_capacity(capacity);
  }
  void push_back(const T& value) {
    if (values_.size() == values_.capacity()) grow_for(1);
    values_.push_back(value);
  }
  void append(std::span<const T> more) {
    if (more.size() > values_.capacity() - values_.size()) grow_for(more.size());
    values_.insert(values_.end(), more.begin(), more.end());
  }
  /// New elements are zero.
  void resize(std::size_t size) {
    if (size > values_.capacity()) grow_for(size - values_.size());
    values_.resize(size);
  }
  void pop_back() noexcept { values_.pop_back(); }
  void truncate(std::size_t size) noexcept { values_.resize(size); }
  void clear() noexcept { values_.clear(); }
  /// Removes the first `count` elements.
  void erase_front(std::size_t count) noexcept {
    values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  [[nodiscard]] BudgetedVector copy() const {
    BudgetedVector other(budget_, purpose_);
    other.append(span());
    return other;
  }
  /// Gives unused room back where there is much of it.
  void shrink_to_fit() {
    if (values_.capacity() > values_.size() + values_.size() / 8) set_capacity(values_.size());
  }
  void reset() noexcept {
    values_ = {};
    claim_.release();
  }

 private:
  void grow_for(std::size_t more) {
    const std::size_t needed = values_.size() + more;
    const std::size_t half_more = values_.capacity() + values_.capacity() / 2;
    constexpr std::size_t smallest = sizeof(T) >= 64 ? 1 : 64 / sizeof(T);
    set_capacity(needed > half_more ? (needed > smallest ? needed : smallest) : half_more);
  }
  void set_capacity(std::size_t capacity) {
    if (capacity == 0) {
      reset();
      return;
    }
    const std::uint64_t bytes = static_cast<std::uint64_t>(capacity) * sizeof(T);
    auto claim = budget_->reserve(bytes, purpose_);
    if (!claim) throw OutOfBudget{std::move(claim.error())};
    std::vector<T> next;
    next.reserve(capacity);
    next.insert(next.end(), values_.begin(), values_.end());
    values_ = std::move(next);
    claim_ = std::move(*claim);
  }

  std::shared_ptr<memory::Budget> budget_;
  const char* purpose_ = "";
  std::vector<T> values_;
  memory::Reservation claim_;
};

}  // namespace plimsoll::wasm
