// The visitor that emits x86-64. Why it exists: docs/guest-abi.md in code; validation drives it, so
// it may rely on types. May touch: value_stack.h, parallel_moves.h, runtime/context.h.
//
// By kind of instruction: compiler_function.cpp, compiler_control.cpp, compiler_merge.cpp,
// compiler_call.cpp, compiler_integer.cpp, compiler_division.cpp, compiler_memory.cpp,
// compiler_variable.cpp, compiler_float.cpp, compiler_conversion.cpp, compiler_bulk.cpp,
// compiler_reference.cpp, compiler_unsupported.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "code/trap_sites.h"
#include "wasm/baseline/compile.h"
#include "wasm/baseline/x64/parallel_moves.h"
#include "wasm/baseline/x64/value_stack.h"
#include "wasm/binary/body_checker.h"
#include "wasm/binary/visitor.h"
#include "wasm/runtime/context.h"
#include "wasm/runtime/trap.h"

namespace plimsoll::wasm::baseline {

struct SimdInstruction;

/// Thrown away with the function; label depths index `blocks_` from its end.
struct Block {
  struct InRegister {
    std::uint32_t slot = 0;
    Register in = no_register;
  };
  ControlFrame::Kind kind = ControlFrame::Kind::block;
  asmjit::Label label;
  asmjit::Label else_label;
  std::uint32_t base = 0;   ///< of the operand stack, below the parameters
  std::uint32_t arity = 0;  ///< values that a branch carries
  std::vector<ValueType> results;
  bool is_target = false;               ///< a branch has fixed what the label finds in registers
  std::vector<InRegister> in_register;  ///< that; all other slots are in memory
  std::vector<std::pair<std::uint32_t, Slot>> at_if;  ///< where slots were when `else` begins
};

class Compiler : public IgnoringVisitor {
 public:
  explicit Compiler(CompileSettings settings);

  void begin_function(const BodyChecker& checker, std::uint32_t function);
  void end_function();
  /// The finished code; valid until the next function begins.
  [[nodiscard]] std::span<const std::byte> code();
  [[nodiscard]] std::span<const std::uint8_t> trap_sites() const { return sites_.bytes(); }

  void block(const ControlFrame& frame);
  void loop(const ControlFrame& frame);
  void if_(const ControlFrame& frame);
  void else_(const ControlFrame& frame, bool then_reaches_end);
  void end(const ControlFrame& frame, bool is_reached);
  void try_table(const ControlFrame& frame, std::span<const CatchClause> clauses);
  void unreachable();
  void br(std::uint32_t depth);
  void br_if(std::uint32_t depth);
  void br_table(std::span<const std::uint32_t> depths);
  void return_();
  void throw_(std::uint32_t tag);
  void throw_ref();
  void br_on_null(std::uint32_t depth);
  void br_on_non_null(std::uint32_t depth);
  void br_on_cast(std::uint32_t depth, ValueType to, bool on_success);

  void call(std::uint32_t function, bool is_tail);
  void call_indirect(std::uint32_t type, std::uint32_t table, bool is_tail);
  void call_ref(std::uint32_t type, bool is_tail);

  void drop(ValueType type);
  void select(ValueType type);
  void local_get(std::uint32_t index, ValueType type);
  void local_set(std::uint32_t index, ValueType type);
  void local_tee(std::uint32_t index, ValueType type);
  void global_get(std::uint32_t index, ValueType type);
  void global_set(std::uint32_t index, ValueType type);
  void i32_const(std::int32_t value);
  void i64_const(std::int64_t value);
  void f32_const(std::uint32_t bits);
  void f64_const(std::uint64_t bits);
  void v128_const(std::span<const std::byte> bytes);
  void shuffle(std::span<const std::byte> lanes);
  void plain(Opcode opcode);
  void lane(Opcode opcode, std::uint8_t lane);

  void load(Opcode opcode, const MemoryArgument& argument);
  void store(Opcode opcode, const MemoryArgument& argument);
  void load_lane(Opcode opcode, const MemoryArgument& argument, std::uint8_t lane);
  void store_lane(Opcode opcode, const MemoryArgument& argument, std::uint8_t lane);
  void atomic(Opcode opcode, const MemoryArgument& argument);
  void atomic_fence();
  void memory_size(std::uint32_t memory);
  void memory_grow(std::uint32_t memory);
  void memory_fill(std::uint32_t memory);
  void memory_copy(std::uint32_t destination, std::uint32_t source);
  void memory_init(std::uint32_t memory, std::uint32_t segment);
  void data_drop(std::uint32_t segment);
  void table_get(std::uint32_t table);
  void table_set(std::uint32_t table);
  void table_size(std::uint32_t table);
  void table_grow(std::uint32_t table);
  void table_fill(std::uint32_t table);
  void table_copy(std::uint32_t destination, std::uint32_t source);
  void table_init(std::uint32_t table, std::uint32_t segment);
  void elem_drop(std::uint32_t segment);

  void ref_null(ValueType type);
  void ref_is_null();
  void ref_func(std::uint32_t function);
  void ref_eq();
  void ref_as_non_null();
  void ref_test(ValueType type);
  void ref_cast(ValueType type);
  void ref_i31();
  void i31_get(bool is_signed);
  void convert_reference(Opcode opcode);

 private:
  struct PendingTable {
    asmjit::Label begin;
    std::vector<asmjit::Label> targets;
  };
  struct PendingBranch {
    asmjit::Label label;
    std::uint32_t depth = 0;
  };

  /// What is known and not yet done, by name.
  [[noreturn]] void not_implemented(std::string_view what) const;

  // compiler_function.cpp
  void emit_prologue(std::uint32_t type);
  void reload_context();
  void emit_return();
  [[nodiscard]] asmjit::Label trap_label(TrapKind kind);
  void mark_site(TrapKind kind);
  void emit_trap_tails();
  void patch_frame_size();
  [[nodiscard]] x86::Mem area_cell(Register store, std::size_t index) const;

  // compiler_merge.cpp
  [[nodiscard]] Block& block_at(std::uint32_t depth) { return blocks_[blocks_.size() - 1 - depth]; }
  Block& push_block(const ControlFrame& frame, std::uint32_t parameters);
  void fix_target(Block& target);
  void emit_merge(const Block& target);
  [[nodiscard]] bool merge_is_empty(const Block& target);
  void collect_merge(const Block& target, ParallelMoves& moves, bool emit_stores, bool& has_stores);
  void take_target_state(const Block& target);
  void emit_branch(std::uint32_t depth);
  void emit_branch_to_end();
  void branch_where(x86::CondCode condition, std::uint32_t depth);
  void leave_unreached(const Block& block);
  void save_state(Block& block);
  void restore_state(const Block& block);
  void freeze_for_loop(Block& block);
  /// A condition popped from the stack as a condition code that holds where it is non-zero.
  [[nodiscard]] x86::CondCode pop_condition();

  // compiler_call.cpp
  struct Arguments {
    std::vector<Slot> slots;
    std::uint32_t type = 0;
  };
  [[nodiscard]] Arguments pop_arguments(std::uint32_t type);
  void leave_room_for_arguments(std::uint32_t type);
  void place_arguments(const Arguments& arguments);
  void push_results(std::uint32_t type);
  void finish_call(bool is_tail, std::uint32_t type);
  void check_signature(Register record, Register temporary, std::uint32_t type);
  void call_record(Register record, std::uint32_t type, bool is_tail, const Arguments& arguments);
  void call_builtin(std::size_t builtin);

  // compiler_bulk.cpp, compiler_reference.cpp
  void call_runtime(std::size_t builtin, std::int64_t first, std::span<const Slot> values);
  void call_runtime_or_trap(std::size_t builtin, std::int64_t first, std::span<const Slot> values);
  [[nodiscard]] std::array<Slot, 3> pop_three();
  void load_table_view(Register into, std::uint32_t table);
  [[nodiscard]] x86::Mem table_element(const Slot& index, Register view, std::uint32_t table);
  void emit_type_test(const Slot& reference, ValueType type);

  // compiler_integer.cpp, compiler_division.cpp
  void integer(Opcode opcode, bool is_64);
  void integer_binary(Opcode opcode, bool is_64);
  void shift(Opcode opcode, bool is_64);
  void compare(x86::CondCode condition, bool is_64);
  void equal_zero(bool is_64);
  void count_bits(Opcode opcode, bool is_64);
  void divide(bool is_64, bool is_signed, bool is_remainder);
  void extend(Opcode opcode);

  // compiler_float.cpp
  void float_plain(Opcode opcode);
  void float_binary(Opcode opcode);
  void float_compare(Opcode opcode);
  void float_unary(Opcode opcode);
  void float_minimum_maximum(bool is_double, bool is_maximum);
  void float_sign(bool is_double, bool negate);
  void copy_sign(bool is_double);
  // compiler_conversion.cpp
  void convert(Opcode opcode);
  void truncate(Opcode opcode);
  void load_float_constant(double value, bool is_double);
  void compare_with_constant(Register in, double value, bool is_double);
  void convert_integer(Opcode opcode);
  void truncate_in_range(Register into, Register from, bool from_double, bool wide);
  void truncate_unsigned(Register into, Register from, bool from_double);
  void saturate(Register into, Register from, bool from_double, bool to_64, bool is_signed,
                const asmjit::Label& done);
  void reinterpret(Opcode opcode);

  // compiler_variable.cpp
  void assign_local(std::uint32_t index, const Slot& value);
  void choose(Register chosen, Register other, x86::CondCode condition);
  void load_cell(Register into, const x86::Mem& from, ValueType::Kind kind);
  void store_cell(const x86::Mem& into, Register from, ValueType::Kind kind);
  /// Pops into a register of its own, which may be changed; pinned until unpin().
  [[nodiscard]] Register pop_changeable();
  /// Pops into some register, which must not be changed; pinned.
  [[nodiscard]] Register pop_read();
  [[nodiscard]] Register in_read_register(const Slot& slot);
  [[nodiscard]] Register in_changeable_register(const Slot& slot);
  void push_number(ValueType::Kind kind, Register in) {
    values_.push_register(kind, in);
    values_.unpin();
  }

  // compiler_memory.cpp
  [[nodiscard]] x86::Mem address(const Slot& index, const MemoryArgument& argument,
                                 std::uint32_t bytes, bool in_scratch = false);
  void load_memory_view(Register into, std::uint32_t memory);
  [[nodiscard]] static x86::Mem sized(x86::Mem memory, std::uint32_t bytes);
  void store_constant(const x86::Mem& into, std::int32_t value, std::uint32_t bytes);
  [[nodiscard]] bool has_memory() const { return !checker_->module().memories.empty(); }

  // compiler_atomic.cpp
  [[nodiscard]] x86::Mem aligned_address(const Slot& index, const MemoryArgument& argument,
                                         std::uint32_t bytes);
  [[nodiscard]] static x86::Gp sized_register(Register one, std::uint32_t bytes);
  void extend_unsigned(Register one, std::uint32_t bytes);
  void update(Opcode opcode, const MemoryArgument& argument);
  void update_by_loop(Opcode opcode, const MemoryArgument& argument, std::uint32_t bytes,
                      ValueType::Kind kind);
  [[nodiscard]] Slot move_out_of_rax(const Slot& slot);
  void compare_exchange(const MemoryArgument& argument, std::uint32_t bytes, ValueType::Kind kind);
  void wait_or_notify(Opcode opcode, const MemoryArgument& argument);

  // compiler_simd.cpp, compiler_simd_lanes.cpp, compiler_simd_integer.cpp, compiler_simd_float.cpp.
  // Those that return false do not know the instruction and have done nothing.
  void simd(Opcode opcode);
  void emit_simd(const SimdInstruction& instruction, Register into, Register from);
  void load_vector_constant(Register into, std::uint64_t low, std::uint64_t high);
  [[nodiscard]] bool simd_test(Opcode opcode);
  [[nodiscard]] bool simd_compare(Opcode opcode);
  [[nodiscard]] bool simd_relaxed(Opcode opcode);
  [[nodiscard]] bool simd_splat(Opcode opcode);
  void spread(Register into, Opcode splat);
  void replace_lane(Opcode opcode, std::uint8_t lane);
  void load_vector(Opcode opcode, Register into, const x86::Mem& from);
  [[nodiscard]] bool simd_shift(Opcode opcode);
  void load_shift_count(const Slot& count, std::uint32_t bits, std::uint32_t more);
  void shift_bytes(Opcode opcode);
  void shift_signed_64();
  [[nodiscard]] bool simd_integer(Opcode opcode);
  void multiply_64();
  void count_bits_of_bytes();
  [[nodiscard]] bool simd_widen(Opcode opcode);
  [[nodiscard]] bool add_pairs(Opcode opcode);
  [[nodiscard]] bool simd_float(Opcode opcode);
  void make_canonical(Register mask, Register lanes, bool is_double);
  void vector_minimum(bool is_double);
  void vector_maximum(bool is_double);
  [[nodiscard]] bool simd_convert(Opcode opcode);
  void convert_unsigned_lanes();
  void truncate_lanes_signed();
  void truncate_lanes_unsigned();

  /// A refused instruction is a mistake of ours.
  struct ThrowingHandler : asmjit::ErrorHandler {
    void handleError(asmjit::Error error, const char* message,
                     asmjit::BaseEmitter* emitter) override;
  };

  CompileSettings settings_;
  ThrowingHandler errors_;
  asmjit::CodeHolder holder_;
  x86::Assembler as_;
  ValueStack values_;
  std::vector<Block> blocks_;
  code::TrapSiteWriter sites_;
  std::vector<std::pair<TrapKind, asmjit::Label>> traps_;
  std::vector<PendingTable> tables_;
  const BodyChecker* checker_ = nullptr;
  std::uint32_t function_ = 0;
  std::vector<std::size_t> frame_patches_;  ///< where the frame's size is written
};

/// Offsets in InstanceContext.
[[nodiscard]] inline x86::Mem context_field(std::size_t offset) {
  return x86::qword_ptr(x86::r12, static_cast<std::int32_t>(offset));
}

}  // namespace plimsoll::wasm::baseline
