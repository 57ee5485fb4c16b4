// The walker's part for memories, tables and segments. Why it exists: see body_walker.h, which
// includes this.
#pragma once

#include "wasm/binary/body_walker.h"

namespace plimsoll::wasm {

template <typename Visitor>
MemoryArgument BodyWalker<Visitor>::read_memory_argument(const OpcodeInfo& info, bool is_atomic) {
  constexpr std::uint32_t has_index = 0x40;
  const std::uint64_t offset = reader_->offset();
  std::uint32_t flags = reader_->u32("the alignment of a memory access");
  MemoryArgument argument;
  if (features_.allowed.has(Feature::multi_memory) && (flags & has_index) != 0 && flags < 0x80) {
    flags &= ~has_index;
    argument.memory = reader_->u32("a memory index");
    features_.used.add(Feature::multi_memory);
  }
  if (flags >= 0x20) {
    fail_decode(offset, fmt::format("malformed memop flags {:#x}: expected an alignment", flags));
  }
  argument.offset = features_.allowed.has(Feature::memory64)
                        ? reader_->u64("the offset of a memory access")
                        : reader_->u32("the offset of a memory access");
  argument.align_log2 = static_cast<std::uint8_t>(flags);
  argument.is_64 = memory(argument.memory).is_64;
  if (flags > info.extra) {
    fail(fmt::format("alignment must not be larger than natural: 2^{} for {} bytes", flags,
                     1U << info.extra));
  }
  if (is_atomic && flags != info.extra) {
    fail(fmt::format("atomic alignment must be natural: 2^{} for {} bytes", flags,
                     1U << info.extra));
  }
  if (!argument.is_64 && argument.offset > UINT32_MAX) {
    fail(fmt::format("offset out of range: {} for a memory of 32 bits", argument.offset));
  }
  return argument;
}

template <typename Visitor>
void BodyWalker<Visitor>::access(Opcode opcode, const OpcodeInfo& info) {
  const MemoryArgument argument = read_memory_argument(info, false);
  pop_operands(info, argument.is_64 ? i64_type : i32_type);
  push_result(info);
  if (!is_live()) return;
  if (info.form == Form::load) {
    visitor_.load(opcode, argument);
  } else {
    visitor_.store(opcode, argument);
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::access_lane(Opcode opcode, const OpcodeInfo& info) {
  const MemoryArgument argument = read_memory_argument(info, false);
  const std::uint8_t lane = read_lane(16U >> info.extra);
  pop_operands(info, argument.is_64 ? i64_type : i32_type);
  push_result(info);
  if (!is_live()) return;
  if (info.form == Form::load_lane) {
    visitor_.load_lane(opcode, argument, lane);
  } else {
    visitor_.store_lane(opcode, argument, lane);
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::access_atomic(Opcode opcode, const OpcodeInfo& info) {
  const MemoryArgument argument = read_memory_argument(info, true);
  pop_operands(info, argument.is_64 ? i64_type : i32_type);
  push_result(info);
  if (is_live()) visitor_.atomic(opcode, argument);
}

template <typename Visitor>
std::uint32_t BodyWalker<Visitor>::read_memory_index() {
  const std::uint64_t offset = reader_->offset();
  if (features_.allowed.has(Feature::multi_memory)) return reader_->u32("a memory index");
  if (reader_->byte("a zero byte") != 0) fail_decode(offset, "zero byte expected");
  return 0;
}

template <typename Visitor>
std::uint32_t BodyWalker<Visitor>::read_table_index() {
  const std::uint64_t offset = reader_->offset();
  if (features_.allowed.has(Feature::reference_types)) return reader_->u32("a table index");
  if (reader_->byte("a zero byte") != 0) fail_decode(offset, "zero byte expected");
  return 0;
}

template <typename Visitor>
void BodyWalker<Visitor>::memory_operation(Opcode opcode) {
  switch (opcode) {
    case Opcode::memory_size: {
      const std::uint32_t index = read_memory_index();
      push(address_type(memory(index)));
      if (is_live()) visitor_.memory_size(index);
      return;
    }
    case Opcode::memory_grow: {
      const std::uint32_t index = read_memory_index();
      const ValueType address = address_type(memory(index));
      pop(address);
      push(address);
      if (is_live()) visitor_.memory_grow(index);
      return;
    }
    case Opcode::memory_fill: {
      const std::uint32_t index = read_memory_index();
      const ValueType address = address_type(memory(index));
      pop(address);
      pop(i32_type);
      pop(address);
      if (is_live()) visitor_.memory_fill(index);
      return;
    }
    case Opcode::memory_copy:
      memory_copy();
      return;
    case Opcode::memory_init: {
      const std::uint32_t segment = reader_->u32("a data segment index");
      const std::uint32_t index = read_memory_index();
      const ValueType address = address_type(memory(index));
      check_data_segment(segment);
      pop(i32_type);
      pop(i32_type);
      pop(address);
      if (is_live()) visitor_.memory_init(index, segment);
      return;
    }
    case Opcode::data_drop: {
      const std::uint32_t segment = reader_->u32("a data segment index");
      check_data_segment(segment);
      if (is_live()) visitor_.data_drop(segment);
      return;
    }
    case Opcode::v128_const: {
      const std::span<const std::byte> bytes = reader_->bytes(16, "a v128");
      push(v128_type);
      if (is_live()) visitor_.v128_const(bytes);
      return;
    }
    case Opcode::i8x16_shuffle: {
      const std::span<const std::byte> lanes = reader_->bytes(16, "16 lane indices");
      for (const std::byte lane : lanes) {
        if (static_cast<std::uint8_t>(lane) >= 32) {
          fail(fmt::format("invalid lane index {}: there are 32", static_cast<std::uint8_t>(lane)));
        }
      }
      pop(v128_type);
      pop(v128_type);
      push(v128_type);
      if (is_live()) visitor_.shuffle(lanes);
      return;
    }
    case Opcode::atomic_fence: {
      const std::uint64_t offset = reader_->offset();
      if (reader_->byte("a zero byte") != 0) fail_decode(offset, "zero byte expected");
      if (is_live()) visitor_.atomic_fence();
      return;
    }
    default:
      table_operation(opcode);
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::memory_copy() {
  const std::uint32_t destination = read_memory_index();
  const std::uint32_t source = read_memory_index();
  const ValueType to = address_type(memory(destination));
  const ValueType from = address_type(memory(source));
  pop(to == i32_type ? to : from);  // the length fits both
  pop(from);
  pop(to);
  if (is_live()) visitor_.memory_copy(destination, source);
}

template <typename Visitor>
void BodyWalker<Visitor>::table_operation(Opcode opcode) {
  if (opcode == Opcode::table_init) {
    table_init();
    return;
  }
  if (opcode == Opcode::table_copy) {
    table_copy();
    return;
  }
  const std::uint32_t index = reader_->u32("an index");
  if (opcode == Opcode::elem_drop) {
    (void)element_segment(index);
    if (is_live()) visitor_.elem_drop(index);
    return;
  }
  const TableType& type = table(index).type;
  const ValueType address = address_type(type.limits);
  switch (opcode) {
    case Opcode::table_get:
      pop(address);
      push(type.element);
      if (is_live()) visitor_.table_get(index);
      return;
    case Opcode::table_set:
      pop(type.element);
      pop(address);
      if (is_live()) visitor_.table_set(index);
      return;
    case Opcode::table_size:
      push(address);
      if (is_live()) visitor_.table_size(index);
      return;
    case Opcode::table_grow:
      pop(address);
      pop(type.element);
      push(address);
      if (is_live()) visitor_.table_grow(index);
      return;
    default:  // table.fill
      pop(address);
      pop(type.element);
      pop(address);
      if (is_live()) visitor_.table_fill(index);
      return;
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::table_init() {
  const std::uint32_t segment = reader_->u32("an element segment index");
  const std::uint32_t index = read_table_index();
  const TableType& type = table(index).type;
  const ElementSegment& elements = element_segment(segment);
  if (!types_.is_subtype(elements.type, type.element)) {
    fail(fmt::format("type mismatch: a segment of {} for a table of {}", to_string(elements.type),
                     to_string(type.element)));
  }
  pop(i32_type);
  pop(i32_type);
  pop(address_type(type.limits));
  if (is_live()) visitor_.table_init(index, segment);
}

template <typename Visitor>
void BodyWalker<Visitor>::table_copy() {
  const std::uint32_t destination = read_table_index();
  const std::uint32_t source = read_table_index();
  const TableType& to = table(destination).type;
  const TableType& from = table(source).type;
  if (!types_.is_subtype(from.element, to.element)) {
    fail(fmt::format("type mismatch: a table of {} copied into one of {}", to_string(from.element),
                     to_string(to.element)));
  }
  const ValueType to_address = address_type(to.limits);
  const ValueType from_address = address_type(from.limits);
  pop(to_address == i32_type ? to_address : from_address);
  pop(from_address);
  pop(to_address);
  if (is_live()) visitor_.table_copy(destination, source);
}

}  // namespace plimsoll::wasm
