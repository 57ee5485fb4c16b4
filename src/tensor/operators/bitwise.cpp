// BitShift and the bitwise And, Or, Xor.
#include "tensor/operators/elementwise_binary.h"

namespace plimsoll::tensor {
namespace {

struct BitShift {
  explicit BitShift(const Node& node) {
    const std::string direction = node.text("direction", "");
    if (direction != "LEFT" && direction != "RIGHT") {
      fail_input("attribute 'direction' must be LEFT or RIGHT, not '" + direction + "'");
    }
    left = direction == "LEFT";
  }
  /// All bits are gone once the shift is as wide as the type.
  template <typename C>
  C operator()(C value, C amount) const {
    constexpr C width = sizeof(C) * 8;
    if (amount >= width) return 0;
    const auto wide = static_cast<std::uint64_t>(value);
    return static_cast<C>(left ? wide << amount : wide >> amount);
  }
  bool left = false;
};
struct BitwiseAnd {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};
struct BitwiseOr {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};
struct BitwiseXor {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};

void infer_bit_shift(InferContext& context) {
  infer_binary<UnsignedTypes, void>(context);
  static_cast<void>(BitShift(context.node()));
}

}  // namespace

void register_bitwise(OperatorTable& table) {
  table.add({.name = "BitShift",
             .since_version = 11,
             .infer = infer_bit_shift,
             .run = run_binary<BitShift, UnsignedTypes, void>,
             .in_place_input = 0});
  add_binary<BitwiseAnd, IntegerTypes>(table, "BitwiseAnd", {18});
  add_binary<BitwiseOr, IntegerTypes>(table, "BitwiseOr", {18});
  add_binary<BitwiseXor, IntegerTypes>(table, "BitwiseXor", {18});
}

}  // namespace plimsoll::tensor
