// Blocks and branches.
#include <algorithm>

#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {
namespace {

std::uint32_t parameter_count(const BodyChecker& checker, const ControlFrame& frame) {
  const BlockType type = frame.type;
  return static_cast<std::uint32_t>(type.parameters(checker.module().types).size());
}

}  // namespace

x86::CondCode Compiler::pop_condition() {
  const Slot slot = values_.pop();
  if (slot.place == Place::flags) return static_cast<x86::CondCode>(slot.value);
  const Register in = in_read_register(slot);
  as_.test(gp32(in), gp32(in));
  return x86::CondCode::kNE;
}

void Compiler::block(const ControlFrame& frame) {
  values_.settle_flags();
  push_block(frame, parameter_count(*checker_, frame));
}

void Compiler::loop(const ControlFrame& frame) {
  values_.settle_flags();
  Block& block = push_block(frame, parameter_count(*checker_, frame));
  freeze_for_loop(block);
  as_.bind(block.label);
}

void Compiler::if_(const ControlFrame& frame) {
  const x86::CondCode condition = pop_condition();
  values_.unpin();
  Block& block = push_block(frame, parameter_count(*checker_, frame));
  block.else_label = as_.newLabel();
  save_state(block);
  as_.j(x86::negateCond(condition), block.else_label);
}

void Compiler::else_(const ControlFrame& /*frame*/, bool then_reaches_end) {
  values_.settle_flags();
  if (then_reaches_end) emit_branch_to_end();
  Block& block = blocks_.back();
  as_.bind(block.else_label);
  restore_state(block);
  block.kind = ControlFrame::Kind::else_;
}

void Compiler::emit_branch_to_end() {
  Block& block = blocks_.back();
  if (!block.is_target) fix_target(block);
  emit_merge(block);
  as_.jmp(block.label);
}

void Compiler::end(const ControlFrame& /*frame*/, bool is_reached) {
  values_.settle_flags();
  if (blocks_.size() == 1) {
    if (is_reached) emit_return();
    blocks_.pop_back();
    return;
  }
  Block& block = blocks_.back();
  if (block.kind == ControlFrame::Kind::if_) {
    // No else: it would hand on what the block took.
    if (is_reached) emit_branch_to_end();
    as_.bind(block.else_label);
    restore_state(block);
    if (!block.is_target) fix_target(block);
    emit_merge(block);
    as_.bind(block.label);
    take_target_state(block);
  } else if (block.kind == ControlFrame::Kind::loop) {
    if (!is_reached) leave_unreached(block);
  } else if (block.is_target) {
    if (is_reached) emit_merge(block);
    as_.bind(block.label);
    take_target_state(block);
  } else if (!is_reached) {
    leave_unreached(block);
  }
  blocks_.pop_back();
}

/// Nothing comes here; what follows is compiled all the same, with everything in memory.
void Compiler::leave_unreached(const Block& block) {
  values_.forget_registers();
  values_.drop_to(block.base);
  for (const ValueType result : block.results) values_.push_memory(result.kind());
}

void Compiler::unreachable() {
  values_.settle_flags();
  as_.jmp(trap_label(TrapKind::unreachable));
}

void Compiler::br(std::uint32_t depth) {
  values_.settle_flags();
  emit_branch(depth);
}

void Compiler::return_() {
  values_.settle_flags();
  emit_return();
}

void Compiler::br_if(std::uint32_t depth) {
  const x86::CondCode condition = pop_condition();
  branch_where(condition, depth);
  values_.unpin();
}

void Compiler::branch_where(x86::CondCode condition, std::uint32_t depth) {
  const bool is_return = depth + 1 == blocks_.size();
  if (!is_return) {
    Block& target = block_at(depth);
    if (!target.is_target) fix_target(target);
    if (merge_is_empty(target)) {
      as_.j(condition, target.label);
      return;
    }
  }
  const asmjit::Label past = as_.newLabel();
  as_.j(x86::negateCond(condition), past);
  emit_branch(depth);
  as_.bind(past);
}

void Compiler::br_table(std::span<const std::uint32_t> depths) {
  values_.settle_flags();
  const Register index = in_read_register(values_.pop());
  const Register address = values_.allocate(false);  // before the first jump: it may spill
  const auto count = static_cast<std::uint32_t>(depths.size() - 1);
  // One stub for each label that needs moves; many targets share few labels.
  std::vector<PendingBranch> stubs;
  const auto stub_for = [&](std::uint32_t depth) {
    for (const PendingBranch& stub : stubs) {
      if (stub.depth == depth) return stub.label;
    }
    stubs.push_back({as_.newLabel(), depth});
    return stubs.back().label;
  };
  as_.cmp(gp32(index), count);
  as_.jae(stub_for(depths.back()));
  if (count != 0) {
    PendingTable& table = tables_.emplace_back();
    table.begin = as_.newLabel();
    for (std::uint32_t target = 0; target < count; ++target) {
      table.targets.push_back(stub_for(depths[target]));
    }
    as_.mov(gp32(scratch), gp32(index));
    as_.lea(gp64(address), x86::ptr(table.begin));
    as_.movsxd(gp64(scratch), x86::dword_ptr(gp64(address), gp64(scratch), 2));
    as_.add(gp64(scratch), gp64(address));
    as_.jmp(gp64(scratch));
  }
  values_.unpin();
  for (const PendingBranch& stub : stubs) {
    as_.bind(stub.label);
    emit_branch(stub.depth);
  }
}

void Compiler::try_table(const ControlFrame& frame, std::span<const CatchClause> clauses) {
  if (!clauses.empty()) not_implemented("try_table with clauses");
  block(frame);
}

void Compiler::throw_(std::uint32_t /*tag*/) {
  not_implemented("throw");
}
void Compiler::throw_ref() {
  not_implemented("throw_ref");
}

}  // namespace plimsoll::wasm::baseline
