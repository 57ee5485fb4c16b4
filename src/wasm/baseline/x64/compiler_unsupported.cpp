// What the compiler does not know yet: each is refused by name when a body that uses it is
// compiled.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

void Compiler::br_on_null(std::uint32_t /*depth*/) {
  not_implemented("br_on_null");
}
void Compiler::br_on_non_null(std::uint32_t /*depth*/) {
  not_implemented("br_on_non_null");
}
void Compiler::br_on_cast(std::uint32_t /*depth*/, ValueType /*to*/, bool /*on_success*/) {
  not_implemented("br_on_cast");
}
void Compiler::v128_const(std::span<const std::byte> /*bytes*/) {
  not_implemented("v128.const");
}
void Compiler::shuffle(std::span<const std::byte> /*lanes*/) {
  not_implemented("i8x16.shuffle");
}
void Compiler::lane(Opcode opcode, std::uint8_t /*lane*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::load_lane(Opcode opcode, const MemoryArgument& /*argument*/, std::uint8_t /*lane*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::store_lane(Opcode opcode, const MemoryArgument& /*argument*/,
                          std::uint8_t /*lane*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::atomic(Opcode opcode, const MemoryArgument& /*argument*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::atomic_fence() {
  not_implemented("atomic.fence");
}
void Compiler::memory_fill(std::uint32_t /*memory*/) {
  not_implemented("memory.fill");
}
void Compiler::memory_copy(std::uint32_t /*destination*/, std::uint32_t /*source*/) {
  not_implemented("memory.copy");
}
void Compiler::memory_init(std::uint32_t /*memory*/, std::uint32_t /*segment*/) {
  not_implemented("memory.init");
}
void Compiler::data_drop(std::uint32_t /*segment*/) {
  not_implemented("data.drop");
}
void Compiler::table_get(std::uint32_t /*table*/) {
  not_implemented("table.get");
}
void Compiler::table_set(std::uint32_t /*table*/) {
  not_implemented("table.set");
}
void Compiler::table_size(std::uint32_t /*table*/) {
  not_implemented("table.size");
}
void Compiler::table_grow(std::uint32_t /*table*/) {
  not_implemented("table.grow");
}
void Compiler::table_fill(std::uint32_t /*table*/) {
  not_implemented("table.fill");
}
void Compiler::table_copy(std::uint32_t /*destination*/, std::uint32_t /*source*/) {
  not_implemented("table.copy");
}
void Compiler::table_init(std::uint32_t /*table*/, std::uint32_t /*segment*/) {
  not_implemented("table.init");
}
void Compiler::elem_drop(std::uint32_t /*segment*/) {
  not_implemented("elem.drop");
}
void Compiler::ref_null(ValueType /*type*/) {
  not_implemented("ref.null");
}
void Compiler::ref_is_null() {
  not_implemented("ref.is_null");
}
void Compiler::ref_func(std::uint32_t /*function*/) {
  not_implemented("ref.func");
}
void Compiler::ref_eq() {
  not_implemented("ref.eq");
}
void Compiler::ref_as_non_null() {
  not_implemented("ref.as_non_null");
}
void Compiler::ref_test(ValueType /*type*/) {
  not_implemented("ref.test");
}
void Compiler::ref_cast(ValueType /*type*/) {
  not_implemented("ref.cast");
}
void Compiler::ref_i31() {
  not_implemented("ref.i31");
}
void Compiler::i31_get(bool /*is_signed*/) {
  not_implemented("i31.get");
}
void Compiler::convert_reference(Opcode opcode) {
  not_implemented(opcode_name(opcode));
}

}  // namespace plimsoll::wasm::baseline
