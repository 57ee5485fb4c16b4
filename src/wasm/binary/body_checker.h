// The typing rules of bodies: operand stack, control stack, initialised locals. Why it exists: what
// body_walker.h does for each instruction is made of these steps, which do not depend on a visitor.
// May touch: module.h, byte_reader.h, control_frame.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "wasm/binary/budgeted_vector.h"
#include "wasm/binary/control_frame.h"
#include "wasm/binary/features.h"
#include "wasm/binary/module.h"
#include "wasm/binary/opcode.h"

namespace plimsoll::wasm {

/// The memory of checking, kept from one body to the next. One for each thread.
struct BodyStacks {
  explicit BodyStacks(const std::shared_ptr<memory::Budget>& budget);

  BudgetedVector<ValueType> operands;
  BudgetedVector<ControlFrame> frames;
  BudgetedVector<ValueType> locals;             ///< parameters first
  BudgetedVector<std::uint8_t> is_initialized;  ///< for each local; empty when all are
  BudgetedVector<std::uint32_t> initialized;    ///< those set, in the order of setting
  BudgetedVector<ValueType> scratch;            ///< values popped to be pushed again
  BudgetedVector<std::uint32_t> targets;        ///< of a br_table
  BudgetedVector<CatchClause> clauses;          ///< of a try_table
};

/// Throws Error(bad_input) with the offset of the instruction at fault, and OutOfBudget.
class BodyChecker {
 public:
  BodyChecker(const Module& module, FeatureUse& features, BodyStacks& stacks) noexcept
      : module_(module), types_(module.types), features_(features), stacks_(stacks) {}

  [[nodiscard]] const Module& module() const noexcept { return module_; }
  /// 0 is the innermost block.
  [[nodiscard]] const ControlFrame& frame(std::uint32_t depth) const noexcept {
    return stacks_.frames[stacks_.frames.size() - 1 - depth];
  }
  [[nodiscard]] std::uint32_t frame_count() const noexcept {
    return static_cast<std::uint32_t>(stacks_.frames.size());
  }
  [[nodiscard]] std::span<const ValueType> locals() const noexcept { return stacks_.locals.span(); }
  [[nodiscard]] std::span<const ValueType> operands() const noexcept {
    return stacks_.operands.span();
  }
  /// Where the instruction being checked begins in the module.
  [[nodiscard]] std::uint64_t instruction_offset() const noexcept { return offset_; }

 protected:
  void begin_instruction(std::uint64_t offset) noexcept { offset_ = offset; }
  void set_opcode(Opcode opcode) noexcept { opcode_ = opcode; }

  [[nodiscard]] bool is_live() const noexcept { return is_live_; }

  // The operand stack.
  void push(ValueType type) {
    if (stacks_.operands.size() >= limits_operand_stack) [[unlikely]] {
      fail_operand_stack();
    }
    stacks_.operands.push_back(type);
  }
  ValueType pop() {
    if (stacks_.operands.size() == floor_) [[unlikely]] {
      return pop_below();
    }
    const ValueType top = stacks_.operands.back();
    stacks_.operands.pop_back();
    return top;
  }
  ValueType pop(ValueType expected) {
    const ValueType found = pop();
    if (found != expected && !types_.is_subtype(found, expected)) [[unlikely]] {
      fail_type(expected, found);
    }
    return found;
  }
  void push_all(std::span<const ValueType> types) {
    for (const ValueType type : types) push(type);
  }
  void pop_all(std::span<const ValueType> types) {
    for (std::size_t index = types.size(); index-- > 0;) pop(types[index]);
  }
  /// Pops a reference of any kind; bottom where the code cannot be reached.
  ValueType pop_reference();
  /// Checks that the values on top have these types, and leaves them there as they are.
  void check_top(std::span<const ValueType> types);
  /// Checks and gives them exactly these types.
  void retype_top(std::span<const ValueType> types) {
    pop_all(types);
    push_all(types);
  }

  // The control stack.
  void enter(ControlFrame::Kind kind, const BlockType& type);
  /// Checks what the innermost block leaves: exactly its results. They stay popped.
  void leave();
  /// The rest of the block cannot be reached.
  void set_unreachable();
  /// Reopens the frame that `leave` checked as its else branch.
  void enter_else();
  void pop_frame();
  [[nodiscard]] ControlFrame& label(std::uint32_t depth);

  // Locals.
  void set_up_locals(std::uint32_t function_type);
  void add_locals(std::uint32_t count, ValueType type);
  [[nodiscard]] ValueType local(std::uint32_t index) const;
  void require_initialized(std::uint32_t index) const;
  void mark_initialized(std::uint32_t index);

  // Look-ups by index, checked.
  [[nodiscard]] const Table& table(std::uint32_t index) const;
  [[nodiscard]] const Limits& memory(std::uint32_t index) const;
  [[nodiscard]] const Global& global(std::uint32_t index) const;
  [[nodiscard]] const Function& function(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t tag_type(std::uint32_t index) const;
  [[nodiscard]] const ElementSegment& element_segment(std::uint32_t index) const;
  void check_data_segment(std::uint32_t index) const;
  static ValueType address_type(const Limits& limits) noexcept {
    return limits.is_64 ? i64_type : i32_type;
  }
  /// That a tail call's results are this function's.
  void check_tail_results(std::uint32_t callee_type) const;

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_type(ValueType expected, ValueType found) const;

  const Module& module_;         // NOLINT: shared with the template below it
  const TypeTable& types_;       // NOLINT
  FeatureUse& features_;         // NOLINT
  BodyStacks& stacks_;           // NOLINT
  std::uint32_t br_tables_ = 0;  // NOLINT: of this body, so far

 private:
  static constexpr std::size_t limits_operand_stack = 131'072;
  ValueType pop_below();
  [[noreturn]] void fail_operand_stack() const;
  [[noreturn]] void fail_index(const char* what, std::uint32_t index, std::size_t count) const;
  void undo_initialized(std::uint32_t height);

  std::size_t floor_ = 0;  ///< height of the innermost frame
  bool is_live_ = true;    ///< the instruction can be reached and its block is seen by visitors
  std::uint64_t offset_ = 0;
  Opcode opcode_ = Opcode::nop;
};

}  // namespace plimsoll::wasm
