// The values of constant expressions.
#include <cstring>
#include <vector>

#include "wasm/binary/byte_reader.h"
#include "wasm/binary/opcode.h"
#include "wasm/runtime/builtins.h"
#include "wasm/runtime/instance.h"
#include "wasm/runtime/reference.h"

namespace plimsoll::wasm {
namespace {

class Evaluator {
 public:
  Evaluator(ByteReader& reader, const InstanceContext& context)
      : reader_(reader), context_(context) {}

  Cell run() {
    while (step()) {
    }
    return stack_.back();
  }

 private:
  void push(std::uint64_t low) { stack_.push_back({low, 0}); }

  void binary(std::uint8_t code) {
    const std::uint64_t right = stack_.back().low;
    stack_.pop_back();
    const std::uint64_t left = stack_.back().low;
    const bool is_64 = code >= 0x7C;
    const int kind = code - (is_64 ? 0x7C : 0x6A);
    const std::uint64_t value = kind == 0 ? left + right : kind == 1 ? left - right : left * right;
    stack_.back().low = is_64 ? value : static_cast<std::uint32_t>(value);
  }

  bool step() {
    const std::uint8_t code = reader_.byte("an instruction");
    switch (code) {
      case 0x0B:
        return false;
      case 0x41:
        push(static_cast<std::uint32_t>(reader_.s32("an i32")));
        return true;
      case 0x42:
        push(static_cast<std::uint64_t>(reader_.s64("an i64")));
        return true;
      case 0x43:
        push(reader_.fixed_u32("an f32"));
        return true;
      case 0x44:
        push(reader_.fixed_u64("an f64"));
        return true;
      case 0x23:
        stack_.push_back(*context_.globals[reader_.u32("a global index")]);
        return true;
      case 0xD0:
        (void)reader_.s33("a heap type");
        push(0);
        return true;
      case 0xD2:
        push(reinterpret_cast<std::uint64_t>(context_.functions[reader_.u32("a function index")]));
        return true;
      case 0xFB:
        // ref.i31; the conversions between any and extern keep the value.
        if (reader_.u32("an instruction") == 28)
          stack_.back().low = reference::of_i31(stack_.back().low);
        return true;
      case 0xFD: {
        (void)reader_.u32("an instruction");
        Cell cell;
        std::memcpy(&cell, reader_.bytes(16, "a v128").data(), sizeof cell);
        stack_.push_back(cell);
        return true;
      }
      default:
        binary(code);
        return true;
    }
  }

  ByteReader& reader_;
  const InstanceContext& context_;
  std::vector<Cell> stack_;
};

}  // namespace

Cell evaluate_constant(std::span<const std::byte> expression, const Instance& instance,
                       std::size_t& used) {
  ByteReader reader(expression, 0, "constant expression");
  const Cell value = Evaluator(reader, instance.context()).run();
  used = reader.consumed();
  return value;
}

}  // namespace plimsoll::wasm
