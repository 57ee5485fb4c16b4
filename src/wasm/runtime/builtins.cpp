#include "wasm/runtime/builtins.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "wasm/runtime/instance.h"
#include "wasm/runtime/parking.h"
#include "wasm/runtime/reference.h"

namespace plimsoll::wasm {
namespace {

std::uint32_t high(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32U);
}
std::uint32_t low(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair);
}

bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return offset <= size && count <= size - offset;
}

/// Writes down why; what the caller returns makes compiled code trap.
std::uint64_t trap(const InstanceContext* context, TrapKind kind) {
  context->store->activation->trap_kind = static_cast<std::uint32_t>(kind);
  return 1;
}

std::uint64_t memory_grow(InstanceContext* context, std::uint32_t memory, std::uint64_t pages) {
  return static_cast<std::uint64_t>(context->instance->memory(memory).grow(pages));
}

std::uint64_t memory_fill(InstanceContext* context, std::uint64_t memory, std::uint64_t offset,
                          std::uint64_t value, std::uint64_t count) {
  const MemoryView& view = *context->memories[memory];
  if (!fits(offset, count, view.bytes)) return trap(context, TrapKind::memory_out_of_bounds);
  if (count != 0) std::memset(view.base + offset, static_cast<int>(value & 0xFFU), count);
  return 0;
}

std::uint64_t memory_copy(InstanceContext* context, std::uint64_t memories, std::uint64_t to,
                          std::uint64_t from, std::uint64_t count) {
  const MemoryView& target = *context->memories[high(memories)];
  const MemoryView& source = *context->memories[low(memories)];
  if (!fits(to, count, target.bytes) || !fits(from, count, source.bytes)) {
    return trap(context, TrapKind::memory_out_of_bounds);
  }
  if (count != 0) std::memmove(target.base + to, source.base + from, count);
  return 0;
}

std::uint64_t memory_init(InstanceContext* context, std::uint64_t indices, std::uint64_t to,
                          std::uint64_t from, std::uint64_t count) {
  const MemoryView& target = *context->memories[high(indices)];
  const std::span<const std::byte> segment = context->instance->data_segment(low(indices));
  if (!fits(to, count, target.bytes) || !fits(from, count, segment.size())) {
    return trap(context, TrapKind::memory_out_of_bounds);
  }
  if (count != 0) std::memcpy(target.base + to, segment.data() + from, count);
  return 0;
}

std::uint64_t data_drop(InstanceContext* context, std::uint64_t segment) {
  context->instance->drop_data(low(segment));
  return 0;
}

std::uint64_t elem_drop(InstanceContext* context, std::uint64_t segment) {
  context->instance->drop_elements(low(segment));
  return 0;
}

std::uint64_t table_grow(InstanceContext* context, std::uint64_t table, std::uint64_t value,
                         std::uint64_t count) {
  return static_cast<std::uint64_t>(context->instance->grow_table(low(table), value, count));
}

std::uint64_t table_fill(InstanceContext* context, std::uint64_t table, std::uint64_t offset,
                         std::uint64_t value, std::uint64_t count) {
  const TableView& view = *context->tables[table];
  if (!fits(offset, count, view.size)) return trap(context, TrapKind::table_out_of_bounds);
  std::fill_n(view.elements + offset, count, value);
  return 0;
}

std::uint64_t table_copy(InstanceContext* context, std::uint64_t tables, std::uint64_t to,
                         std::uint64_t from, std::uint64_t count) {
  const TableView& target = *context->tables[high(tables)];
  const TableView& source = *context->tables[low(tables)];
  if (!fits(to, count, target.size) || !fits(from, count, source.size)) {
    return trap(context, TrapKind::table_out_of_bounds);
  }
  if (count != 0) {
    std::memmove(target.elements + to, source.elements + from, count * sizeof(std::uint64_t));
  }
  return 0;
}

std::uint64_t table_init(InstanceContext* context, std::uint64_t indices, std::uint64_t to,
                         std::uint64_t from, std::uint64_t count) {
  const TableView& target = *context->tables[high(indices)];
  const std::span<const std::uint64_t> segment = context->instance->element_segment(low(indices));
  if (!fits(to, count, target.size) || !fits(from, count, segment.size())) {
    return trap(context, TrapKind::table_out_of_bounds);
  }
  std::copy_n(segment.data() + from, count, target.elements + to);
  return 0;
}

/// The place of a waiting or waking access; null after a trap.
std::byte* atomic_place(InstanceContext* context, std::uint64_t memory, std::uint64_t index,
                        std::uint64_t offset, std::uint64_t bytes) {
  const MemoryView& view = *context->memories[memory];
  const std::uint64_t address = index + offset;
  if (address < index || !fits(address, bytes, view.bytes)) {
    (void)trap(context, TrapKind::memory_out_of_bounds);
    return nullptr;
  }
  if (address % bytes != 0) {
    (void)trap(context, TrapKind::unaligned_atomic);
    return nullptr;
  }
  return view.base + address;
}

constexpr std::uint64_t trapped = UINT64_MAX;

std::uint64_t memory_notify(InstanceContext* context, std::uint64_t memory, std::uint64_t index,
                            std::uint64_t offset, std::uint64_t count) {
  const std::byte* place = atomic_place(context, memory, index, offset, 4);
  if (place == nullptr) return trapped;
  // Nobody can wait in a memory that is not shared.
  if (!context->instance->memory(low(memory)).type().limits.is_shared) return 0;
  return notify_at(place, low(count));
}

template <typename Number>
std::uint64_t memory_wait(InstanceContext* context, std::uint64_t memory, std::uint64_t index,
                          std::uint64_t offset, std::uint64_t expected, std::uint64_t nanoseconds) {
  std::byte* place = atomic_place(context, memory, index, offset, sizeof(Number));
  if (place == nullptr) return trapped;
  if (!context->instance->memory(low(memory)).type().limits.is_shared) {
    (void)trap(context, TrapKind::expected_shared_memory);
    return trapped;
  }
  auto& number = *reinterpret_cast<Number*>(place);
  const auto is_equal = [&] {
    return std::atomic_ref<Number>(number).load() == static_cast<Number>(expected);
  };
  return static_cast<std::uint64_t>(
      wait_at(place, is_equal, static_cast<std::int64_t>(nanoseconds)));
}

bool is_of_abstract_type(std::uint64_t value, HeapType::Abstract type) {
  switch (type) {
    case HeapType::any:
    case HeapType::external:
    case HeapType::function:
    case HeapType::exception:
      return true;  // validation has made sure of the hierarchy
    case HeapType::i31:
    case HeapType::eq:
      return reference::is_i31(value);
    default:
      return false;
  }
}

std::uint64_t reference_matches(InstanceContext* context, std::uint64_t heap, std::uint64_t value,
                                std::uint64_t or_null) {
  if (value == 0) return or_null;
  const HeapType type = HeapType::from_value(low(heap));
  if (!type.is_concrete()) return is_of_abstract_type(value, type.abstract()) ? 1 : 0;
  const std::uint32_t wanted = context->types[type.index()];
  const FunctionRecord& function = reference::to_function(value);
  for (std::uint32_t depth = 0; depth <= function.depth; ++depth) {
    if (function.supertypes[depth] == wanted) return 1;
  }
  return 0;
}

constexpr Builtins table = {.memory_grow = memory_grow,
                            .memory_fill = memory_fill,
                            .memory_copy = memory_copy,
                            .memory_init = memory_init,
                            .data_drop = data_drop,
                            .elem_drop = elem_drop,
                            .table_grow = table_grow,
                            .table_fill = table_fill,
                            .table_copy = table_copy,
                            .table_init = table_init,
                            .memory_notify = memory_notify,
                            .memory_wait32 = memory_wait<std::uint32_t>,
                            .memory_wait64 = memory_wait<std::uint64_t>,
                            .reference_matches = reference_matches};

}  // namespace

const Builtins& builtins() noexcept {
  return table;
}

}  // namespace plimsoll::wasm
