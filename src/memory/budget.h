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
// thread-safe: one lock per tree, held for a few additions and never while allocating, reading
// /proc or calling anybody. A Budget outlives its children and reservations because they share
// ownership of it.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "plimsoll/refusal.h"

namespace plimsoll::memory {

class Budget;
class Timeline;

/// A claim of `bytes()` on a budget, held until destroyed. Move-only. An empty one holds nothing.
/// Used by one thread at a time; its budget may be used by many.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Grows or shrinks the claim in place. A refused growth leaves it as it was. An empty
  /// reservation has no budget to ask: growing it is Error(internal).
  [[nodiscard]] std::expected<void, Refusal> resize(std::uint64_t bytes);
  /// Gives everything back now.
  void release() noexcept;
  /// Lets the timeline read the kernel's figure while the memory is still there. For a holder that
  /// is about to unmap: afterwards there is nothing left to see.
  void sample() const noexcept;

 private:
  friend class Budget;
  explicit Reservation(std::string purpose) : purpose_(std::move(purpose)) {}
  std::shared_ptr<Budget> budget_;
  std::uint64_t bytes_ = 0;
  std::string purpose_;
};

/// Who asked last, for the message of a failure that the ledger did not see coming. Holds its text
/// inside, so that it can be taken when the heap is exhausted.
struct LastClaim {
  std::array<char, 128> purpose{};    ///< ends with a zero; cut when longer
  std::uint64_t bytes = 0;            ///< asked for, granted or not
  std::uint64_t root_used_bytes = 0;  ///< the whole tree's use when it was asked
  std::uint64_t root_limit_bytes = 0;
};

class Budget : public std::enable_shared_from_this<Budget> {
  struct Key {
    explicit Key() = default;  // the constructor is for root() and child()
  };

 public:
  static constexpr std::uint64_t unlimited = UINT64_MAX;

  [[nodiscard]] static std::shared_ptr<Budget> root(std::string name, std::uint64_t limit_bytes,
                                                    std::shared_ptr<Timeline> timeline = nullptr);
  [[nodiscard]] std::shared_ptr<Budget> child(std::string name,
                                              std::uint64_t limit_bytes = unlimited);

  /// Claims bytes for a purpose: a noun phrase that a report can show, the name of a thing in
  /// quotes ("activations", "weight 'conv1.w'"). When the claim does not fit, holders of
  /// rebuildable memory below the budget that is full are asked first, one after the other from the
  /// oldest, until it fits. A claim that could never fit asks nobody.
  [[nodiscard]] std::expected<Reservation, Refusal> reserve(std::uint64_t bytes,
                                                            std::string_view purpose);

  /// Registers a holder of memory reserved in this budget or below that can be rebuilt.
  /// `give_back(wanted)` frees what it can, releasing its own reservations, and returns the bytes
  /// freed. It is called from whatever thread reserves, one call at a time, without a budget's
  /// lock; while it runs, reservations made by it ask no holder. The registration ends with the
  /// returned handle, which waits for a call in progress: do not drop it while holding a lock that
  /// `give_back` takes.
  [[nodiscard]] std::shared_ptr<void> register_rebuildable(
      std::function<std::uint64_t(std::uint64_t wanted)> give_back);

  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used() const noexcept;
  [[nodiscard]] std::uint64_t peak_used() const noexcept;
  /// min over this budget and its ancestors of limit − used.
  [[nodiscard]] std::uint64_t available() const noexcept;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }  ///< "process/session"

  /// The latest claim made anywhere in this tree. Neither allocates nor waits: when the lock is
  /// held elsewhere at this moment the answer is empty.
  [[nodiscard]] LastClaim last_claim() const noexcept;
  /// Lets the tree's timeline read the kernel's figure, at most once a millisecond: cheap enough to
  /// call at every step of a run.
  void sample() const noexcept;

  /// Test hook: the n-th claim from now (1-based; a growing Reservation counts) anywhere in this
  /// tree is refused; 0 = off.
  void refuse_nth_reservation(std::uint64_t n) noexcept;

  struct Root;  ///< what a whole tree shares; known to budget.cpp only
  Budget(Key key, std::string name, std::uint64_t limit_bytes, std::shared_ptr<Budget> parent,
         std::shared_ptr<Root> root);

 private:
  friend class Reservation;

  /// Whether a claim makes or ends a reservation, or only changes its size.
  enum class Change : std::uint8_t { whole, size };
  std::expected<void, Refusal> claim(std::uint64_t bytes, std::string_view purpose, Change change);
  void give_back(std::uint64_t bytes, std::string_view purpose, Change change) noexcept;
  [[nodiscard]] bool is_within(const Budget& other) const noexcept;

  const std::string path_;
  const std::uint64_t limit_;
  const std::shared_ptr<Budget> parent_;
  const std::shared_ptr<Root> root_;
  std::uint64_t used_ = 0;       // under root_->mutex
  std::uint64_t peak_used_ = 0;  // under root_->mutex
};

}  // namespace plimsoll::memory
