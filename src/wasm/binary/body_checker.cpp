#include "wasm/binary/body_checker.h"

#include <fmt/format.h>

#include "wasm/binary/implementation_limits.h"

namespace plimsoll::wasm {

BodyStacks::BodyStacks(const std::shared_ptr<memory::Budget>& budget)
    : operands(budget, "operand stack of validation"),
      frames(budget, "control stack of validation"),
      locals(budget, "locals of validation"),
      is_initialized(budget, "locals of validation"),
      initialized(budget, "locals of validation"),
      scratch(budget, "operand stack of validation"),
      targets(budget, "branch targets of validation"),
      clauses(budget, "catch clauses of validation") {}

void BodyChecker::fail(const std::string& message) const {
  fail_decode(offset_, fmt::format("{}: {}", opcode_name(opcode_), message));
}

void BodyChecker::fail_type(ValueType expected, ValueType found) const {
  fail(fmt::format("type mismatch: expected {}, found {}", to_string(expected), to_string(found)));
}

void BodyChecker::fail_index(const char* what, std::uint32_t index, std::size_t count) const {
  fail(fmt::format("unknown {} {}: there are {}", what, index, count));
}

void BodyChecker::fail_operand_stack() const {
  static_assert(limits_operand_stack == limits::operand_stack);
  fail(fmt::format("more values on the stack than the {} that are accepted", limits_operand_stack));
}

ValueType BodyChecker::pop_below() {
  if (stacks_.frames.back().is_unreachable) return {};
  fail("type mismatch: expected a value, the stack of this block is empty");
}

ValueType BodyChecker::pop_reference() {
  const ValueType found = pop();
  if (!found.is_bottom() && !found.is_reference()) {
    fail(fmt::format("type mismatch: expected a reference, found {}", to_string(found)));
  }
  return found;
}

void BodyChecker::check_top(std::span<const ValueType> types) {
  stacks_.scratch.clear();
  for (std::size_t index = types.size(); index-- > 0;) stacks_.scratch.push_back(pop(types[index]));
  for (std::size_t index = types.size(); index-- > 0;) push(stacks_.scratch[index]);
}

void BodyChecker::enter(ControlFrame::Kind kind, const BlockType& type) {
  if (stacks_.frames.size() >= limits::nesting) {
    fail(fmt::format("more blocks inside each other than the {} that are accepted",
                     limits::nesting));
  }
  ControlFrame frame;
  frame.kind = kind;
  frame.type = type;
  frame.is_live = is_live_;
  frame.height = static_cast<std::uint32_t>(stacks_.operands.size());
  frame.initialized_height = static_cast<std::uint32_t>(stacks_.initialized.size());
  stacks_.frames.push_back(frame);
  floor_ = frame.height;
  if (kind != ControlFrame::Kind::function) push_all(type.parameters(types_));
}

void BodyChecker::leave() {
  const ControlFrame& frame = stacks_.frames.back();
  const BlockType type = frame.type;
  pop_all(type.results(types_));
  if (stacks_.operands.size() != frame.height) {
    fail(fmt::format("type mismatch: {} more values on the stack than the block gives",
                     stacks_.operands.size() - frame.height));
  }
}

void BodyChecker::set_unreachable() {
  ControlFrame& frame = stacks_.frames.back();
  stacks_.operands.truncate(frame.height);
  frame.is_unreachable = true;
  is_live_ = false;
}

void BodyChecker::enter_else() {
  ControlFrame& frame = stacks_.frames.back();
  undo_initialized(frame.initialized_height);
  frame.kind = ControlFrame::Kind::else_;
  frame.is_unreachable = false;
  is_live_ = frame.is_live;
  push_all(frame.type.parameters(types_));
}

void BodyChecker::pop_frame() {
  undo_initialized(stacks_.frames.back().initialized_height);
  stacks_.frames.pop_back();
  if (stacks_.frames.empty()) return;
  const ControlFrame& outer = stacks_.frames.back();
  floor_ = outer.height;
  is_live_ = outer.is_live && !outer.is_unreachable;
}

ControlFrame& BodyChecker::label(std::uint32_t depth) {
  if (depth >= stacks_.frames.size()) {
    fail(fmt::format("unknown label {}: {} blocks are open", depth, stacks_.frames.size()));
  }
  return stacks_.frames[stacks_.frames.size() - 1 - depth];
}

void BodyChecker::set_up_locals(std::uint32_t function_type) {
  stacks_.operands.clear();
  stacks_.frames.clear();
  stacks_.locals.clear();
  stacks_.is_initialized.clear();
  stacks_.initialized.clear();
  stacks_.locals.append(types_.parameters(function_type));
  floor_ = 0;
  is_live_ = true;
  br_tables_ = 0;
}

void BodyChecker::add_locals(std::uint32_t count, ValueType type) {
  const std::size_t before = stacks_.locals.size();
  for (std::uint32_t index = 0; index < count; ++index) stacks_.locals.push_back(type);
  if (count == 0 || (type.is_defaultable() && stacks_.is_initialized.empty())) return;
  const std::size_t known = stacks_.is_initialized.size();
  stacks_.is_initialized.resize(before + count);
  for (std::size_t index = known; index < before; ++index) stacks_.is_initialized[index] = 1;
  for (std::size_t index = before; index < before + count; ++index) {
    stacks_.is_initialized[index] = type.is_defaultable() ? 1 : 0;
  }
}

ValueType BodyChecker::local(std::uint32_t index) const {
  if (index >= stacks_.locals.size()) fail_index("local", index, stacks_.locals.size());
  return stacks_.locals[index];
}

void BodyChecker::require_initialized(std::uint32_t index) const {
  if (index < stacks_.is_initialized.size() && stacks_.is_initialized[index] == 0) {
    fail(fmt::format("uninitialized local {} of type {}", index, to_string(local(index))));
  }
}

void BodyChecker::mark_initialized(std::uint32_t index) {
  if (index >= stacks_.is_initialized.size() || stacks_.is_initialized[index] != 0) return;
  stacks_.is_initialized[index] = 1;
  stacks_.initialized.push_back(index);
}

void BodyChecker::undo_initialized(std::uint32_t height) {
  while (stacks_.initialized.size() > height) {
    stacks_.is_initialized[stacks_.initialized.back()] = 0;
    stacks_.initialized.pop_back();
  }
}

const Table& BodyChecker::table(std::uint32_t index) const {
  if (index >= module_.tables.size()) fail_index("table", index, module_.tables.size());
  return module_.tables[index];
}

const Limits& BodyChecker::memory(std::uint32_t index) const {
  if (index >= module_.memories.size()) fail_index("memory", index, module_.memories.size());
  return module_.memories[index].limits;
}

const Global& BodyChecker::global(std::uint32_t index) const {
  if (index >= module_.globals.size()) fail_index("global", index, module_.globals.size());
  return module_.globals[index];
}

const Function& BodyChecker::function(std::uint32_t index) const {
  if (index >= module_.functions.size()) fail_index("function", index, module_.functions.size());
  return module_.functions[index];
}

std::uint32_t BodyChecker::tag_type(std::uint32_t index) const {
  if (index >= module_.tags.size()) fail_index("tag", index, module_.tags.size());
  return module_.tags[index];
}

const ElementSegment& BodyChecker::element_segment(std::uint32_t index) const {
  if (index >= module_.elements.size()) fail_index("elem segment", index, module_.elements.size());
  return module_.elements[index];
}

void BodyChecker::check_data_segment(std::uint32_t index) const {
  if (module_.data_count == no_index) fail("data count section required");
  if (index >= module_.data_count) fail_index("data segment", index, module_.data_count);
}

void BodyChecker::check_tail_results(std::uint32_t callee_type) const {
  const BlockType own = stacks_.frames[0].type;
  if (!types_.are_subtypes(types_.results(callee_type), own.results(types_))) {
    fail(fmt::format("type mismatch: the callee {} gives other results than this function",
                     types_.describe(callee_type)));
  }
}

}  // namespace plimsoll::wasm
