#include "wasm/binary/constant_expression.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "wasm/binary/opcode.h"
#include "wasm/binary/type_reader.h"

namespace plimsoll::wasm {
namespace {

/// One expression being checked.
class Checker {
 public:
  Checker(ByteReader& reader, const Module& module, FeatureUse& features)
      : reader_(reader),
        module_(module),
        features_(features),
        types_(reader, features, module.types, module.types.size()) {}

  void check(ValueType expected) {
    while (step()) {
    }
    if (depth_ != 1) {
      reader_.fail(fmt::format(
          "type mismatch: the constant expression leaves {} values, expected 1", depth_));
    }
    pop(expected, "the end of the constant expression");
  }

 private:
  static constexpr std::size_t most_values = 1024;

  void push(ValueType type) {
    if (depth_ == most_values) {
      reader_.fail(
          fmt::format("the constant expression needs more than the {} values at once that "
                      "are accepted",
                      most_values));
    }
    stack_[depth_++] = type;
  }
  ValueType pop(ValueType expected, std::string_view where) {
    if (depth_ == 0) {
      reader_.fail(fmt::format("type mismatch: {} expected {}, the stack is empty", where,
                               to_string(expected)));
    }
    const ValueType found = stack_[--depth_];
    if (!module_.types.is_subtype(found, expected)) {
      reader_.fail(fmt::format("type mismatch: {} expected {}, found {}", where,
                               to_string(expected), to_string(found)));
    }
    return found;
  }

  [[nodiscard]] Opcode opcode() {
    const std::uint64_t offset = reader_.offset();
    std::uint32_t number = reader_.byte("an instruction");
    if (number == 0xFB || number == 0xFD) {
      const std::uint32_t page = number == 0xFB ? page_gc : page_simd;
      const std::uint32_t next = reader_.u32("an instruction");
      number = next < 0x100 ? page + next : opcode_numbers;
    }
    if (number >= opcode_numbers || opcode_table[number].form == Form::unknown) {
      fail_decode(offset, "illegal opcode: expected an instruction of a constant expression");
    }
    const auto found = static_cast<Opcode>(number);
    if (opcode_table[number].form == Form::aggregate) {
      fail_not_implemented(offset, fmt::format("{}: structs and arrays of the feature 'gc' are not "
                                               "implemented",
                                               opcode_name(found)));
    }
    return found;
  }

  void arithmetic(Opcode opcode, ValueType type, std::uint64_t offset) {
    features_.require(Feature::extended_const, offset, "arithmetic in a constant expression");
    pop(type, opcode_name(opcode));
    pop(type, opcode_name(opcode));
    push(type);
  }

  void global_get(std::uint64_t offset) {
    const std::uint32_t index = reader_.u32("a global index");
    const std::size_t readable =
        features_.allowed.has(Feature::gc) ? module_.globals.size() : module_.imported_globals;
    if (index >= readable) {
      fail_decode(offset, fmt::format("unknown global {}: a constant expression may read {} here",
                                      index, readable));
    }
    const GlobalType& type = module_.globals[index].type;
    if (type.is_mutable) {
      fail_decode(offset, fmt::format("constant expression required: global {} is mutable", index));
    }
    push(type.type);
  }

  void ref_func(std::uint64_t offset) {
    const std::uint32_t index = reader_.u32("a function index");
    if (index >= module_.functions.size()) {
      fail_decode(offset, fmt::format("unknown function {}: there are {}", index,
                                      module_.functions.size()));
    }
    if (!features_.allowed.has(Feature::function_references)) {
      push(funcref_type);
      return;
    }
    const std::uint32_t type = module_.functions[index].type;
    push(ValueType::reference(HeapType::concrete(module_.types[type].canonical), false));
  }

  /// One instruction; false at the end.
  bool step() {
    const std::uint64_t offset = reader_.offset();
    const Opcode code = opcode();
    const OpcodeInfo& info = opcode_table[static_cast<std::uint32_t>(code)];
    switch (code) {
      case Opcode::end:
        return false;
      case Opcode::i32_const:
        (void)reader_.s32("an i32");
        push(i32_type);
        return true;
      case Opcode::i64_const:
        (void)reader_.s64("an i64");
        push(i64_type);
        return true;
      case Opcode::f32_const:
        (void)reader_.bytes(4, "an f32");
        push(f32_type);
        return true;
      case Opcode::f64_const:
        (void)reader_.bytes(8, "an f64");
        push(f64_type);
        return true;
      case Opcode::v128_const:
        features_.require(Feature::simd, offset, "v128.const");
        (void)reader_.bytes(16, "a v128");
        push(v128_type);
        return true;
      case Opcode::i32_add:
      case Opcode::i32_sub:
      case Opcode::i32_mul:
        arithmetic(code, i32_type, offset);
        return true;
      case Opcode::i64_add:
      case Opcode::i64_sub:
      case Opcode::i64_mul:
        arithmetic(code, i64_type, offset);
        return true;
      case Opcode::global_get:
        global_get(offset);
        return true;
      case Opcode::ref_null:
        features_.require(info.feature, offset, "ref.null");
        push(ValueType::reference(types_.heap_type(), true));
        return true;
      case Opcode::ref_func:
        features_.require(info.feature, offset, "ref.func");
        ref_func(offset);
        return true;
      case Opcode::ref_i31:
        features_.require(info.feature, offset, "ref.i31");
        pop(i32_type, "ref.i31");
        push(ValueType::reference(HeapType::i31, false));
        return true;
      case Opcode::any_convert_extern:
      case Opcode::extern_convert_any: {
        features_.require(info.feature, offset, opcode_name(code));
        const bool to_any = code == Opcode::any_convert_extern;
        const HeapType from = to_any ? HeapType::external : HeapType::any;
        const ValueType found = pop(ValueType::reference(from, true), opcode_name(code));
        push(
            ValueType::reference(to_any ? HeapType::any : HeapType::external, found.is_nullable()));
        return true;
      }
      default:
        fail_decode(offset, fmt::format("constant expression required: {} is not constant",
                                        opcode_name(code)));
    }
  }

  ByteReader& reader_;
  const Module& module_;
  FeatureUse& features_;
  TypeReader types_;
  std::size_t depth_ = 0;
  std::array<ValueType, most_values> stack_;  // NOLINT: only what was pushed is read
};

}  // namespace

std::span<const std::byte> read_constant_expression(ByteReader& reader, const Module& module,
                                                    FeatureUse& features, ValueType expected) {
  const std::byte* start = reader.cursor();
  Checker(reader, module, features).check(expected);
  return {start, reader.cursor()};
}

void declare_functions(std::span<const std::byte> expression, Module& module) {
  ByteReader reader(expression, 0, "constant expression");
  while (!reader.at_end()) {
    switch (reader.byte("an instruction")) {
      case 0x41:
        (void)reader.s32("an i32");
        break;
      case 0x42:
        (void)reader.s64("an i64");
        break;
      case 0x43:
        (void)reader.bytes(4, "an f32");
        break;
      case 0x44:
        (void)reader.bytes(8, "an f64");
        break;
      case 0x23:
        (void)reader.u32("a global index");
        break;
      case 0xD0:
        (void)reader.s33("a heap type");
        break;
      case 0xD2:
        module.declare(reader.u32("a function index"));
        break;
      case 0xFB:
        (void)reader.u32("an instruction");
        break;
      case 0xFD:
        (void)reader.u32("an instruction");
        (void)reader.bytes(16, "a v128");
        break;
      default:
        break;  // arithmetic and `end`
    }
  }
}

ByteRange take_constant_expression(ByteReader& reader, Module& module, FeatureUse& features,
                                   ValueType expected) {
  const std::span<const std::byte> bytes =
      read_constant_expression(reader, module, features, expected);
  declare_functions(bytes, module);
  return module.add_expression(bytes);
}

}  // namespace plimsoll::wasm
