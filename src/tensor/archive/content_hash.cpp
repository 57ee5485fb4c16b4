#include "tensor/archive/content_hash.h"

#define XXH_INLINE_ALL  // header-only: nothing to link
#include <xxhash.h>

namespace plimsoll::tensor {

struct ContentHash::State {
  XXH3_state_t xxh3;
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}

ContentHash::~ContentHash() = default;

void ContentHash::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t ContentHash::value() const {
  return XXH3_64bits_digest(&state_->xxh3);
}

}  // namespace plimsoll::tensor
