// What a visitor of bodies may listen to. Why it exists: validation and the baseline compiler are
// one pass over the bytes; a compiler derives from IgnoringVisitor and hides the hooks it wants.
// The walker calls the visitor's own type, so hooks cost nothing where they do nothing.
// May touch: control_frame.h, opcode.h.
//
// When: after the instruction has been checked, before the control stack shrinks; blocks after
// their frame is there. Only for code that can be reached: a block that begins in dead code is not
// seen at all, and `else_` and `end` say whether the code before them reaches them. So label depths
// count live blocks only, as they should: an enclosing block of live code is live.
// How: no hook may keep a reference that it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wasm/binary/control_frame.h"
#include "wasm/binary/opcode.h"

namespace plimsoll::wasm {

class BodyChecker;

struct IgnoringVisitor {
  /// Locals and the function's frame are there.
  void begin_function(const BodyChecker& /*checker*/, std::uint32_t /*function*/) {}
  void end_function() {}

  // Blocks and branches. A depth of the function's own frame is a return.
  void block(const ControlFrame& /*frame*/) {}
  void loop(const ControlFrame& /*frame*/) {}
  void if_(const ControlFrame& /*frame*/) {}
  void else_(const ControlFrame& /*frame*/, bool /*then_reaches_end*/) {}
  void try_table(const ControlFrame& /*frame*/, std::span<const CatchClause> /*clauses*/) {}
  void end(const ControlFrame& /*frame*/, bool /*is_reached*/) {}
  void unreachable() {}
  void br(std::uint32_t /*depth*/) {}
  void br_if(std::uint32_t /*depth*/) {}
  /// The last target is the default.
  void br_table(std::span<const std::uint32_t> /*depths*/) {}
  void return_() {}
  void throw_(std::uint32_t /*tag*/) {}
  void throw_ref() {}
  void br_on_null(std::uint32_t /*depth*/) {}
  void br_on_non_null(std::uint32_t /*depth*/) {}
  /// Branches when the cast to `to` succeeds, or fails.
  void br_on_cast(std::uint32_t /*depth*/, ValueType /*to*/, bool /*on_success*/) {}

  // Calls; type indices as written.
  void call(std::uint32_t /*function*/, bool /*is_tail*/) {}
  void call_indirect(std::uint32_t /*type*/, std::uint32_t /*table*/, bool /*is_tail*/) {}
  void call_ref(std::uint32_t /*type*/, bool /*is_tail*/) {}

  // Values.
  void drop(ValueType /*type*/) {}
  void select(ValueType /*type*/) {}
  void local_get(std::uint32_t /*index*/, ValueType /*type*/) {}
  void local_set(std::uint32_t /*index*/, ValueType /*type*/) {}
  void local_tee(std::uint32_t /*index*/, ValueType /*type*/) {}
  void global_get(std::uint32_t /*index*/, ValueType /*type*/) {}
  void global_set(std::uint32_t /*index*/, ValueType /*type*/) {}
  void i32_const(std::int32_t /*value*/) {}
  void i64_const(std::int64_t /*value*/) {}
  void f32_const(std::uint32_t /*bits*/) {}
  void f64_const(std::uint64_t /*bits*/) {}
  void v128_const(std::span<const std::byte> /*bytes*/) {}
  void shuffle(std::span<const std::byte> /*lanes*/) {}
  void plain(Opcode /*opcode*/) {}
  void lane(Opcode /*opcode*/, std::uint8_t /*lane*/) {}

  // Memories and tables.
  void load(Opcode /*opcode*/, const MemoryArgument& /*argument*/) {}
  void store(Opcode /*opcode*/, const MemoryArgument& /*argument*/) {}
  void load_lane(Opcode /*opcode*/, const MemoryArgument& /*argument*/, std::uint8_t /*lane*/) {}
  void store_lane(Opcode /*opcode*/, const MemoryArgument& /*argument*/, std::uint8_t /*lane*/) {}
  void atomic(Opcode /*opcode*/, const MemoryArgument& /*argument*/) {}
  void atomic_fence() {}
  void memory_size(std::uint32_t /*memory*/) {}
  void memory_grow(std::uint32_t /*memory*/) {}
  void memory_fill(std::uint32_t /*memory*/) {}
  void memory_copy(std::uint32_t /*destination*/, std::uint32_t /*source*/) {}
  void memory_init(std::uint32_t /*memory*/, std::uint32_t /*segment*/) {}
  void data_drop(std::uint32_t /*segment*/) {}
  void table_get(std::uint32_t /*table*/) {}
  void table_set(std::uint32_t /*table*/) {}
  void table_size(std::uint32_t /*table*/) {}
  void table_grow(std::uint32_t /*table*/) {}
  void table_fill(std::uint32_t /*table*/) {}
  void table_copy(std::uint32_t /*destination*/, std::uint32_t /*source*/) {}
  void table_init(std::uint32_t /*table*/, std::uint32_t /*segment*/) {}
  void elem_drop(std::uint32_t /*segment*/) {}

  // References.
  void ref_null(ValueType /*type*/) {}
  void ref_is_null() {}
  void ref_func(std::uint32_t /*function*/) {}
  void ref_eq() {}
  void ref_as_non_null() {}
  void ref_test(ValueType /*type*/) {}
  void ref_cast(ValueType /*type*/) {}
  void ref_i31() {}
  void i31_get(bool /*is_signed*/) {}
  /// any.convert_extern or extern.convert_any.
  void convert_reference(Opcode /*opcode*/) {}
};

}  // namespace plimsoll::wasm
