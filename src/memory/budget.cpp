#include "memory/budget.h"

#include <algorithm>
#include <utility>

#include "memory/timeline.h"

namespace plimsoll::memory {

/// What a whole tree shares. One lock: claims are few (one per block, not per allocation).
struct Budget::Root {
  std::mutex mutex;
  std::shared_ptr<Timeline> timeline;
  std::uint64_t refuse_in = 0;  // test hook; 0: off
  struct Holder {
    std::uint64_t id;
    std::function<std::uint64_t(std::uint64_t)> give_back;
  };
  std::vector<Holder> holders;  // oldest first
  std::uint64_t next_holder = 1;
};

Reservation::Reservation(std::shared_ptr<Budget> budget, std::uint64_t bytes, std::string purpose)
    : budget_(std::move(budget)), bytes_(bytes), purpose_(std::move(purpose)) {}

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
    budget_->give_back(bytes_, purpose_);
    budget_.reset();
  }
  bytes_ = 0;
}

std::expected<void, Refusal> Reservation::resize(std::uint64_t bytes) {
  if (budget_ == nullptr || bytes == bytes_) return {};
  if (bytes > bytes_) {
    if (auto granted = budget_->claim(bytes - bytes_, purpose_); !granted) return granted;
  } else {
    budget_->give_back(bytes_ - bytes, purpose_);
  }
  bytes_ = bytes;
  return {};
}

Budget::Budget(std::string name, std::uint64_t limit_bytes, std::shared_ptr<Budget> parent,
               std::shared_ptr<Timeline> timeline)
    : name_(std::move(name)), limit_(limit_bytes), parent_(std::move(parent)) {
  if (parent_ != nullptr) {
    root_ = parent_->root_;
  } else {
    root_ = std::make_shared<Root>();
    root_->timeline = std::move(timeline);
  }
}

std::shared_ptr<Budget> Budget::root(std::string name, std::uint64_t limit_bytes,
                                     std::shared_ptr<Timeline> timeline) {
  return std::shared_ptr<Budget>(
      new Budget(std::move(name), limit_bytes, nullptr, std::move(timeline)));
}

std::shared_ptr<Budget> Budget::child(std::string name, std::uint64_t limit_bytes) {
  return std::shared_ptr<Budget>(
      new Budget(std::move(name), limit_bytes, shared_from_this(), nullptr));
}

std::expected<void, Refusal> Budget::claim(std::uint64_t bytes, std::string_view purpose) {
  std::uint64_t ledger = 0;
  // Two tries: the second after the holders of rebuildable memory were asked. They are called
  // without the lock, since giving back takes it.
  for (int attempt = 0;; ++attempt) {
    std::vector<Root::Holder> holders;
    Refusal refusal;
    {
      const std::scoped_lock lock(root_->mutex);
      bool granted = true;
      if (root_->refuse_in > 0 && --root_->refuse_in == 0) granted = false;
      const Budget* tightest = this;
      std::uint64_t room = UINT64_MAX;
      for (const Budget* node = this; node != nullptr; node = node->parent_.get()) {
        const std::uint64_t left = node->limit_ - std::min(node->limit_, node->used_);
        if (left < room) {
          room = left;
          tightest = node;
        }
      }
      if (granted && bytes <= room) {
        for (Budget* node = this; node != nullptr; node = node->parent_.get()) {
          node->used_ += bytes;
          node->peak_used_ = std::max(node->peak_used_, node->used_);
          ledger = node->used_;
        }
        break;
      }
      refusal = {tightest->path(), std::string(purpose), bytes, granted ? room : 0, 0, {}};
      if (granted) holders = root_->holders;
      if (attempt > 0 || holders.empty()) return std::unexpected(std::move(refusal));
    }
    const std::uint64_t wanted = bytes - std::min(bytes, refusal.available_bytes);
    std::uint64_t freed = 0;
    for (const Root::Holder& holder : holders) {
      if (freed >= wanted) break;
      freed += holder.give_back(wanted - freed);
    }
    if (freed == 0) return std::unexpected(std::move(refusal));
  }
  if (root_->timeline != nullptr) {
    root_->timeline->record(Timeline::Kind::reserve, path(), purpose,
                            static_cast<std::int64_t>(bytes), ledger);
  }
  return {};
}

void Budget::give_back(std::uint64_t bytes, std::string_view purpose) noexcept {
  std::uint64_t ledger = 0;
  {
    const std::scoped_lock lock(root_->mutex);
    for (Budget* node = this; node != nullptr; node = node->parent_.get()) {
      node->used_ -= bytes;
      ledger = node->used_;
    }
  }
  if (root_->timeline == nullptr) return;
  try {
    root_->timeline->record(Timeline::Kind::release, path(), purpose,
                            -static_cast<std::int64_t>(bytes), ledger);
  } catch (...) {  // NOLINT: a record that cannot be kept must not stop memory from going back
  }
}

std::expected<Reservation, Refusal> Budget::reserve(std::uint64_t bytes, std::string_view purpose) {
  // The name is copied first: once the claim is made nothing may fail before it has an owner.
  Reservation reservation(nullptr, 0, std::string(purpose));
  if (auto granted = claim(bytes, purpose); !granted) {
    return std::unexpected(std::move(granted.error()));
  }
  reservation.budget_ = shared_from_this();
  reservation.bytes_ = bytes;
  return reservation;
}

std::shared_ptr<void> Budget::register_rebuildable(
    std::function<std::uint64_t(std::uint64_t wanted)> give_back) {
  const std::scoped_lock lock(root_->mutex);
  const std::uint64_t id = root_->next_holder++;
  root_->holders.push_back({id, std::move(give_back)});
  std::weak_ptr<Root> root = root_;
  return {nullptr, [root, id](void*) {
            if (auto alive = root.lock()) {
              const std::scoped_lock inner(alive->mutex);
              std::erase_if(alive->holders, [id](const auto& holder) { return holder.id == id; });
            }
          }};
}

std::uint64_t Budget::limit() const noexcept {
  return limit_;
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
    room = std::min(room, node->limit_ - std::min(node->limit_, node->used_));
  }
  return room;
}

std::string Budget::path() const {
  return parent_ == nullptr ? name_ : parent_->path() + "/" + name_;
}

void Budget::refuse_nth_reservation(std::uint64_t n) noexcept {
  const std::scoped_lock lock(root_->mutex);
  root_->refuse_in = n;
}

}  // namespace plimsoll::memory
