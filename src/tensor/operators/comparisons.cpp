// Equal, Less, Greater and their kin, and the logical And, Or, Xor.
#include "tensor/operators/elementwise_binary.h"

namespace plimsoll::tensor {
namespace {

Boolean answer(bool value) {
  return {static_cast<std::uint8_t>(value)};
}

struct Equal {
  template <typename C>
  Boolean operator()(C a, C b) const {
    return answer(a == b);
  }
  Boolean operator()(Boolean a, Boolean b) const { return answer((a.byte != 0) == (b.byte != 0)); }
};
struct Less {
  template <typename C>
  Boolean operator()(C a, C b) const {
    return answer(a < b);
  }
};
struct LessOrEqual {
  template <typename C>
  Boolean operator()(C a, C b) const {
    return answer(a <= b);
  }
};
struct Greater {
  template <typename C>
  Boolean operator()(C a, C b) const {
    return answer(a > b);
  }
};
struct GreaterOrEqual {
  template <typename C>
  Boolean operator()(C a, C b) const {
    return answer(a >= b);
  }
};
struct And {
  Boolean operator()(Boolean a, Boolean b) const { return answer(a.byte != 0 && b.byte != 0); }
};
struct Or {
  Boolean operator()(Boolean a, Boolean b) const { return answer(a.byte != 0 || b.byte != 0); }
};
struct Xor {
  Boolean operator()(Boolean a, Boolean b) const { return answer((a.byte != 0) != (b.byte != 0)); }
};

}  // namespace

void register_comparisons(OperatorTable& table) {
  using Logical = Types<Boolean>;
  add_binary<Equal, AllTypes, Boolean>(table, "Equal", {1, 7, 11, 13, 19});
  add_binary<Less, NumericTypes, Boolean>(table, "Less", {1, 7, 9, 13});
  add_binary<LessOrEqual, NumericTypes, Boolean>(table, "LessOrEqual", {12, 16});
  add_binary<Greater, NumericTypes, Boolean>(table, "Greater", {1, 7, 9, 13});
  add_binary<GreaterOrEqual, NumericTypes, Boolean>(table, "GreaterOrEqual", {12, 16});
  add_binary<And, Logical>(table, "And", {1, 7});
  add_binary<Or, Logical>(table, "Or", {1, 7});
  add_binary<Xor, Logical>(table, "Xor", {1, 7});
}

}  // namespace plimsoll::tensor
