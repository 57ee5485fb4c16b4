// The tree of allowances under the limit. Why it exists: every large claim on memory (weights,
// window, activations, code, stacks) is made here before it is made of the kernel, so that running
// out is an answer and not a crash. May touch: the standard library, plimsoll/refusal.h,
// timeline.h.
//
//   process ─┬─ base          the program itself, measured
//            ├─ weights
//            └─ session ─┬─ activations
//                        └─ window
//
// Invariants: a child's use counts in every ancestor; nobody exceeds its own limit nor an
// ancestor's; a reservation is given back exactly once, by its destructor. All operations are
// thread-safe. A Budget outlives its children and reservations because they share ownership of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/refusal.h"

namespace plimsoll::memory {

class Budget;
class Timeline;

/// A claim of `bytes()` on a budget, held until destroyed. Move-only. An empty one holds nothing.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Grows or shrinks the claim in place. A refused growth leaves it as it was.
  [[nodiscard]] std::expected<void, Refusal> resize(std::uint64_t bytes);
  /// Gives everything back now.
  void release() noexcept;

 private:
  friend class Budget;
  Reservation(std::shared_ptr<Budget> budget, std::uint64_t bytes, std::string purpose);
  std::shared_ptr<Budget> budget_;
  std::uint64_t bytes_ = 0;
  std::string purpose_;
};

class Budget : public std::enable_shared_from_this<Budget> {
 public:
  static constexpr std::uint64_t unlimited = UINT64_MAX;

  [[nodiscard]] static std::shared_ptr<Budget> root(std::string name, std::uint64_t limit_bytes,
                                                    std::shared_ptr<Timeline> timeline = nullptr);
  [[nodiscard]] std::shared_ptr<Budget> child(std::string name,
                                              std::uint64_t limit_bytes = unlimited);

  /// Claims bytes for a purpose (a noun phrase that a report can show). When the claim does not
  /// fit, the registered holders of rebuildable memory are asked first, largest age first.
  [[nodiscard]] std::expected<Reservation, Refusal> reserve(std::uint64_t bytes,
                                                            std::string_view purpose);

  /// Registers a holder of rebuildable memory. `give_back(wanted)` frees what it can (releasing its
  /// own reservations) and returns the bytes freed; it is called without any budget lock held.
  /// The registration ends with the returned handle.
  [[nodiscard]] std::shared_ptr<void> register_rebuildable(
      std::function<std::uint64_t(std::uint64_t wanted)> give_back);

  [[nodiscard]] std::uint64_t limit() const noexcept;
  [[nodiscard]] std::uint64_t used() const noexcept;
  [[nodiscard]] std::uint64_t peak_used() const noexcept;
  /// min over this budget and its ancestors of limit − used.
  [[nodiscard]] std::uint64_t available() const noexcept;
  [[nodiscard]] std::string path() const;  ///< "process/session/window"

  /// Test hook: the n-th reservation from now (1-based) anywhere under this root is refused; 0 =
  /// off.
  void refuse_nth_reservation(std::uint64_t n) noexcept;

 private:
  friend class Reservation;
  Budget(std::string name, std::uint64_t limit_bytes, std::shared_ptr<Budget> parent,
         std::shared_ptr<Timeline> timeline);
  struct Root;  // the lock, the rebuildable holders and the timeline of a whole tree

  std::expected<void, Refusal> claim(std::uint64_t bytes, std::string_view purpose);
  void give_back(std::uint64_t bytes, std::string_view purpose) noexcept;

  std::string name_;
  std::uint64_t limit_ = unlimited;
  std::uint64_t used_ = 0;
  std::uint64_t peak_used_ = 0;
  std::shared_ptr<Budget> parent_;
  std::shared_ptr<Root> root_;
};

}  // namespace plimsoll::memory
