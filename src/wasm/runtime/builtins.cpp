#include "wasm/runtime/builtins.h"

#include "wasm/runtime/instance.h"

namespace plimsoll::wasm {
namespace {

std::uint64_t memory_grow(InstanceContext* context, std::uint32_t memory, std::uint64_t pages) {
  return static_cast<std::uint64_t>(context->instance->memory(memory).grow(pages));
}

constexpr Builtins table = {.memory_grow = memory_grow};

}  // namespace

const Builtins& builtins() noexcept {
  return table;
}

}  // namespace plimsoll::wasm
