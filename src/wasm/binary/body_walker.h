// One pass over a body: decodes, checks and tells a visitor. Why it exists: what validates a body
// is what drives the compiler, so nothing is ever compiled that was not checked in the same breath,
// and a body's bytes are read once and need not be kept. May touch: body_checker.h, visitor.h.
//
// The walker's parts by kind of instruction: body_walker_control.h, body_walker_memory.h,
// body_walker_reference.h, included at the end.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "wasm/binary/body_checker.h"
#include "wasm/binary/byte_reader.h"
#include "wasm/binary/implementation_limits.h"
#include "wasm/binary/opcode.h"
#include "wasm/binary/type_reader.h"
#include "wasm/binary/visitor.h"

namespace plimsoll::wasm {

/// Throws Error(bad_input) with the offset, Error(unsupported) for what is not implemented, and
/// OutOfBudget. Used for one body after the other; one for each thread.
template <typename Visitor>
class BodyWalker : public BodyChecker {
 public:
  BodyWalker(const Module& module, FeatureUse& features, BodyStacks& stacks, Visitor& visitor)
      : BodyChecker(module, features, stacks), visitor_(visitor) {}

  /// `body` is the code entry without its size; `offset` where it begins in the module.
  void walk(std::uint32_t function, std::span<const std::byte> body, std::uint64_t offset) {
    ByteReader reader(body, offset, "function body");
    reader_ = &reader;
    begin_instruction(offset);
    set_opcode(Opcode::nop);
    const std::uint32_t type = module_.functions[function].type;
    set_up_locals(type);
    read_locals();
    enter(ControlFrame::Kind::function, {.type_index = type, .result = {}});
    visitor_.begin_function(*this, function);
    while (frame_count() != 0) step();
    if (!reader.at_end()) {
      reader.fail(
          fmt::format("operators remaining after the end of the function: {} bytes; END "
                      "opcode expected at the end of the body",
                      reader.remaining()));
    }
    visitor_.end_function();
  }

 private:
  void read_locals() {
    const std::uint32_t groups = reader_->count(limits::body_bytes, "the number of local groups");
    TypeReader types(*reader_, features_, types_, types_.size());
    std::uint64_t total = stacks_.locals.size();
    for (std::uint32_t group = 0; group < groups; ++group) {
      const std::uint64_t offset = reader_->offset();
      const std::uint32_t count = reader_->u32("the number of locals");
      total += count;
      if (total > limits::locals) {
        fail_decode(offset,
                    fmt::format("too many locals: {} are more than the {} that are accepted", total,
                                limits::locals));
      }
      add_locals(count, types.value_type("the type of locals"));
    }
  }

  [[nodiscard]] std::uint32_t read_opcode() {
    const std::uint32_t first = reader_->byte("an instruction (END opcode expected)");
    if (first < 0xFB || first > 0xFE) return first;
    const std::uint32_t next = reader_->u32("an instruction");
    std::uint32_t room = 0x100;
    std::uint32_t page = page_gc;
    if (first == 0xFC) page = page_bulk;
    if (first == 0xFD) {
      page = page_simd;
      room = page_atomic - page_simd;
    }
    if (first == 0xFE) {
      page = page_atomic;
      room = opcode_numbers - page_atomic;
    }
    if (next >= room) fail_illegal(first, next);
    return page + next;
  }

  [[noreturn]] void fail_illegal(std::uint32_t first, std::uint32_t next) const {
    fail_decode(instruction_offset(), fmt::format("illegal opcode {:#04x} {:#04x}", first, next));
  }

  [[noreturn]] void fail_unknown(std::uint32_t number) const {
    // The exception handling that came before try_table, by its old names.
    const char* legacy = number == 0x06   ? "try"
                         : number == 0x07 ? "catch"
                         : number == 0x09 ? "rethrow"
                         : number == 0x18 ? "delegate"
                         : number == 0x19 ? "catch_all"
                                          : nullptr;
    if (legacy != nullptr) {
      fail_not_implemented(instruction_offset(),
                           fmt::format("illegal opcode {:#04x}: '{}' of the legacy exception "
                                       "handling is not implemented; try_table is",
                                       number, legacy));
    }
    fail_decode(instruction_offset(), fmt::format("illegal opcode {:#04x}", number));
  }

  void step() {
    begin_instruction(reader_->offset());
    const std::uint32_t number = read_opcode();
    const OpcodeInfo& info = opcode_table[number];
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): unknown ones are refused below
    const auto opcode = static_cast<Opcode>(number);
    set_opcode(opcode);
    if (!features_.allowed.has(info.feature)) [[unlikely]] {
      features_.require(info.feature, instruction_offset(), opcode_name(opcode));
    }
    features_.used.add(info.feature);
    switch (info.form) {
      case Form::plain:
        pop_operands(info, {});
        push_result(info);
        if (is_live()) visitor_.plain(opcode);
        return;
      case Form::load:
      case Form::store:
        access(opcode, info);
        return;
      case Form::load_lane:
      case Form::store_lane:
        access_lane(opcode, info);
        return;
      case Form::atomic:
        access_atomic(opcode, info);
        return;
      case Form::lane: {
        const std::uint8_t lane = read_lane(info.extra);
        pop_operands(info, {});
        push_result(info);
        if (is_live()) visitor_.lane(opcode, lane);
        return;
      }
      case Form::special:
        special(opcode);
        return;
      case Form::aggregate:
        fail_not_implemented(instruction_offset(),
                             fmt::format("{}: structs and arrays of the feature 'gc' are not "
                                         "implemented",
                                         opcode_name(opcode)));
      case Form::unknown:
        fail_unknown(number);
    }
  }

  void pop_operands(const OpcodeInfo& info, ValueType address) {
    for (unsigned index = info.operand_count; index-- > 0;) {
      const std::uint8_t kind = info.operands[index];
      pop(kind == 0 ? address : ValueType(static_cast<ValueType::Kind>(kind)));
    }
  }
  void push_result(const OpcodeInfo& info) {
    if (info.result_count != 0) push(static_cast<ValueType::Kind>(info.result));
  }
  [[nodiscard]] std::uint8_t read_lane(unsigned lanes) {
    const std::uint8_t lane = reader_->byte("a lane index");
    if (lane >= lanes) fail(fmt::format("invalid lane index {}: there are {}", lane, lanes));
    return lane;
  }

  void special(Opcode opcode);

  // body_walker_control.h
  void special_control(Opcode opcode);
  [[nodiscard]] BlockType read_block_type();
  void enter_block(Opcode opcode);
  void enter_try_table();
  [[nodiscard]] CatchClause read_catch_clause();
  void check_catch_clause(const CatchClause& clause);
  void meet_else();
  void meet_end();
  void branch(Opcode opcode);
  void branch_table();
  void throw_exception(Opcode opcode);
  void call(bool is_tail);
  void call_indirect(bool is_tail);
  void call_ref(bool is_tail);
  void finish_call(std::uint32_t type, bool is_tail);
  void variable(Opcode opcode);
  void constant(Opcode opcode);
  void drop_or_select(Opcode opcode);

  // body_walker_memory.h
  [[nodiscard]] MemoryArgument read_memory_argument(const OpcodeInfo& info, bool is_atomic);
  [[nodiscard]] std::uint32_t read_memory_index();
  [[nodiscard]] std::uint32_t read_table_index();
  void access(Opcode opcode, const OpcodeInfo& info);
  void access_lane(Opcode opcode, const OpcodeInfo& info);
  void access_atomic(Opcode opcode, const OpcodeInfo& info);
  void memory_operation(Opcode opcode);
  void memory_copy();
  void table_operation(Opcode opcode);
  void table_init();
  void table_copy();

  // body_walker_reference.h
  void reference(Opcode opcode);
  void branch_on_null(Opcode opcode);
  void branch_on_cast(Opcode opcode);
  void ref_func();
  void cast(Opcode opcode);

  [[nodiscard]] TypeReader types_here() { return {*reader_, features_, types_, types_.size()}; }

  Visitor& visitor_;
  ByteReader* reader_ = nullptr;
};

}  // namespace plimsoll::wasm

#include "wasm/binary/body_walker_control.h"
#include "wasm/binary/body_walker_memory.h"
#include "wasm/binary/body_walker_reference.h"
