#include "code/code_ranges.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "plimsoll/error.h"

namespace plimsoll::code {
namespace {

// A slot is taken when its owner is set, which happens last; its end is cleared first.
struct Slot {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<const CodeOwner*> owner{nullptr};
};
constinit std::array<Slot, most_code_ranges> slots;
constinit std::atomic<std::size_t> slots_used{0};
constinit std::mutex slots_mutex;

}  // namespace

CodeRange::CodeRange(const std::byte* begin, std::uint64_t size, const CodeOwner& owner) {
  const std::scoped_lock lock(slots_mutex);
  std::size_t index = 0;
  while (index < most_code_ranges && slots[index].owner.load() != nullptr) ++index;
  if (index == most_code_ranges) {
    throw Error(ErrorKind::failure, "more modules with code than this process can keep apart");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  slots[index].begin = address;
  slots[index].owner = &owner;
  slots[index].end = address + size;
  if (index >= slots_used.load()) slots_used = index + 1;
  index_ = index;
}

CodeRange::~CodeRange() {
  const std::scoped_lock lock(slots_mutex);
  slots[index_].end = 0;
  slots[index_].begin = 0;
  slots[index_].owner = nullptr;
}

const CodeOwner* find_code_owner(const void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const std::size_t used = slots_used.load();
  for (std::size_t index = 0; index < used; ++index) {
    const Slot& slot = slots[index];
    if (wanted < slot.end.load() && wanted >= slot.begin.load()) return slot.owner.load();
  }
  return nullptr;
}

}  // namespace plimsoll::code
