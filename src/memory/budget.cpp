#include "memory/budget.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "memory/timeline.h"
#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

/// True while this thread runs a holder's give_back: what it reserves asks no holder, so that two
/// holders cannot wait for each other.
thread_local bool giving_back = false;

/// Of a rebuildable memory. `calling` is held during a call, so that its registration cannot end
/// under it; recursive, since a holder may drop its own registration.
struct Holder {
  const Budget* budget = nullptr;
  std::function<std::uint64_t(std::uint64_t)> give_back;
  std::recursive_mutex calling;
  bool ended = false;

  std::uint64_t ask(std::uint64_t wanted) {
    const std::scoped_lock lock(calling);
    if (ended) return 0;
    struct Mark {
      Mark() { giving_back = true; }
      ~Mark() { giving_back = false; }
    } mark;
    return give_back(wanted);
  }
};

std::uint64_t room_of(std::uint64_t limit, std::uint64_t used) {
  return limit - std::min(limit, used);
}

}  // namespace

struct Budget::Root {
  mutable std::mutex mutex;
  std::shared_ptr<Timeline> timeline;
  std::uint64_t refuse_in = 0;                 // test hook; 0: off
  std::list<std::shared_ptr<Holder>> holders;  // oldest first
  LastClaim last;
};

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::move(other.budget_)),
      bytes_(std::exchange(other.bytes_, 0)),
      purpose_(std::move(other.purpose_)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    release();
    budget_ = std::move(other.budget_);
    bytes_ = std::exchange(other.bytes_, 0);
    purpose_ = std::move(other.purpose_);
  }
  return *this;
}

Reservation::~Reservation() {
  release();
}

void Reservation::release() noexcept {
  if (budget_ != nullptr) {
    budget_->give_back(bytes_, purpose_, Budget::Change::whole);
    budget_.reset();
  }
  bytes_ = 0;
}

std::expected<void, Refusal> Reservation::resize(std::uint64_t bytes) {
  if (bytes == bytes_) return {};
  if (budget_ == nullptr) fail_internal("an empty reservation cannot grow: it has no budget");
  if (bytes > bytes_) {
    if (auto granted = budget_->claim(bytes - bytes_, purpose_, Budget::Change::size); !granted)
      return granted;
  } else {
    budget_->give_back(bytes_ - bytes, purpose_, Budget::Change::size);
  }
  bytes_ = bytes;
  return {};
}

void Reservation::sample() const noexcept {
  if (budget_ != nullptr && budget_->root_->timeline != nullptr) {
    budget_->root_->timeline->sample_now();
  }
}

Budget::Budget(Key, std::string name, std::uint64_t limit_bytes, std::shared_ptr<Budget> parent,
               std::shared_ptr<Root> root)
    : path_(parent == nullptr ? std::move(name) : parent->path_ + "/" + name),
      limit_(limit_bytes),
      parent_(std::move(parent)),
      root_(std::move(root)) {}

std::shared_ptr<Budget> Budget::root(std::string name, std::uint64_t limit_bytes,
                                     std::shared_ptr<Timeline> timeline) {
  auto root = std::make_shared<Root>();
  root->timeline = std::move(timeline);
  root->last.root_limit_bytes = limit_bytes;
  return std::make_shared<Budget>(Key{}, std::move(name), limit_bytes, nullptr, std::move(root));
}

std::shared_ptr<Budget> Budget::child(std::string name, std::uint64_t limit_bytes) {
  return std::make_shared<Budget>(Key{}, std::move(name), limit_bytes, shared_from_this(), root_);
}

bool Budget::is_within(const Budget& other) const noexcept {
  for (const Budget* node = this; node != nullptr; node = node->parent_.get()) {
    if (node == &other) return true;
  }
  return false;
}

std::expected<void, Refusal> Budget::claim(std::uint64_t bytes, std::string_view purpose,
                                           Change change) {
  std::uint64_t ledger = 0;
  std::vector<const Holder*> asked;
  // One round, and one more after each holder that was asked.
  for (bool first = true;; first = false) {
    std::shared_ptr<Holder> holder;
    const Budget* tightest = this;
    std::uint64_t room = UINT64_MAX;
    std::uint64_t wanted = 0;
    {
      const std::scoped_lock lock(root_->mutex);
      const Budget* full = nullptr;  // the deepest that cannot grant it
      bool possible = true;
      std::uint64_t root_used = 0;
      for (const Budget* node = this; node != nullptr; node = node->parent_.get()) {
        const std::uint64_t left = room_of(node->limit_, node->used_);
        if (left < room) {
          room = left;
          tightest = node;
        }
        if (left < bytes && full == nullptr) {
          full = node;
          wanted = bytes - left;
        }
        possible = possible && bytes <= node->limit_;
        root_used = node->used_;
      }
      bool refused = false;
      if (first) {
        refused = root_->refuse_in > 0 && --root_->refuse_in == 0;
        LastClaim& last = root_->last;
        const std::size_t length = std::min(purpose.size(), last.purpose.size() - 1);
        *std::copy_n(purpose.data(), length, last.purpose.data()) = '\0';
        last.bytes = bytes;
        last.root_used_bytes = root_used;
      }
      if (!refused && full == nullptr) {
        for (Budget* node = this; node != nullptr; node = node->parent_.get()) {
          node->used_ += bytes;
          node->peak_used_ = std::max(node->peak_used_, node->used_);
          ledger = node->used_;
        }
        break;
      }
      if (refused) room = 0;
      if (!refused && possible && !giving_back) {
        for (const auto& candidate : root_->holders) {
          if (candidate->budget->is_within(*full) &&
              std::ranges::find(asked, candidate.get()) == asked.end()) {
            holder = candidate;
            break;
          }
        }
      }
    }
    if (holder == nullptr) {
      return std::unexpected(
          Refusal{tightest->path(), std::string(purpose), bytes, room, 0, {}, {}});
    }
    asked.push_back(holder.get());
    holder->ask(wanted);
  }
  if (root_->timeline != nullptr) {
    root_->timeline->record(Timeline::Kind::reserve, path_, purpose,
                            static_cast<std::int64_t>(bytes), ledger,
                            change == Change::whole ? 1 : 0);
  }
  return {};
}

void Budget::give_back(std::uint64_t bytes, std::string_view purpose, Change change) noexcept {
  std::uint64_t ledger = 0;
  {
    const std::scoped_lock lock(root_->mutex);
    for (Budget* node = this; node != nullptr; node = node->parent_.get()) {
      node->used_ -= bytes;
      ledger = node->used_;
    }
  }
  if (root_->timeline != nullptr) {
    root_->timeline->record(Timeline::Kind::release, path_, purpose,
                            -static_cast<std::int64_t>(bytes), ledger,
                            change == Change::whole ? -1 : 0);
  }
}

std::expected<Reservation, Refusal> Budget::reserve(std::uint64_t bytes, std::string_view purpose) {
  // The name is copied first: once the claim is made nothing may fail before it has an owner.
  Reservation reservation{std::string(purpose)};
  if (auto granted = claim(bytes, purpose, Change::whole); !granted) {
    return std::unexpected(std::move(granted.error()));
  }
  reservation.budget_ = shared_from_this();
  reservation.bytes_ = bytes;
  return reservation;
}

std::shared_ptr<void> Budget::register_rebuildable(
    std::function<std::uint64_t(std::uint64_t wanted)> give_back) {
  struct Registration {
    std::shared_ptr<Budget> budget;  // keeps Holder::budget valid
    std::shared_ptr<Holder> holder;
    bool listed = false;

    Registration() = default;
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration() {
      if (!listed) return;
      std::list<std::shared_ptr<Holder>> removed;  // freed after the lock
      {
        const std::scoped_lock lock(budget->root_->mutex);
        auto& holders = budget->root_->holders;
        removed.splice(removed.end(), holders, std::ranges::find(holders, holder));
      }
      const std::scoped_lock lock(holder->calling);
      holder->ended = true;
    }
  };
  auto registration = std::make_shared<Registration>();
  registration->budget = shared_from_this();
  registration->holder = std::make_shared<Holder>();
  registration->holder->budget = this;
  registration->holder->give_back = std::move(give_back);
  std::list<std::shared_ptr<Holder>> added{registration->holder};
  const std::scoped_lock lock(root_->mutex);
  root_->holders.splice(root_->holders.end(), added);
  registration->listed = true;
  return registration;
}

std::uint64_t Budget::used() const noexcept {
  const std::scoped_lock lock(root_->mutex);
  return used_;
}

std::uint64_t Budget::peak_used() const noexcept {
  const std::scoped_lock lock(root_->mutex);
  return peak_used_;
}

std::uint64_t Budget::available() const noexcept {
  const std::scoped_lock lock(root_->mutex);
  std::uint64_t room = UINT64_MAX;
  for (const Budget* node = this; node != nullptr; node = node->parent_.get()) {
    room = std::min(room, room_of(node->limit_, node->used_));
  }
  return room;
}

LastClaim Budget::last_claim() const noexcept {
  const std::unique_lock lock(root_->mutex, std::try_to_lock);
  return lock ? root_->last : LastClaim{};
}

void Budget::sample() const noexcept {
  if (root_->timeline != nullptr) root_->timeline->sample();
}

void Budget::refuse_nth_reservation(std::uint64_t n) noexcept {
  const std::scoped_lock lock(root_->mutex);
  root_->refuse_in = n;
}

}  // namespace plimsoll::memory
