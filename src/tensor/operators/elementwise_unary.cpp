#include "tensor/operators/elementwise_unary.h"

#include <cmath>
#include <limits>

#include "tensor/operators/families.h"
#include "tensor/operators/vector_math.h"

namespace plimsoll::tensor {
namespace {

/// −x without overflow for the smallest signed integer.
template <typename C>
C negated(C x) {
  if constexpr (std::is_integral_v<C>) {
    using Unsigned = std::make_unsigned_t<C>;
    return static_cast<C>(static_cast<Unsigned>(Unsigned{0} - static_cast<Unsigned>(x)));
  } else {
    return -x;
  }
}

struct Abs {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      return std::fabs(x);
    } else if constexpr (std::is_signed_v<C>) {
      return x < 0 ? negated(x) : x;
    } else {
      return x;
    }
  }
};
struct Neg {
  template <typename C>
  C operator()(C x) const {
    return negated(x);
  }
};
struct Sign {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      const C sign = static_cast<C>(x > C{0}) - static_cast<C>(x < C{0});
      return x == x ? sign : x;
    } else if constexpr (std::is_signed_v<C>) {
      return static_cast<C>((x > 0) - (x < 0));
    } else {
      return static_cast<C>(x > 0);
    }
  }
};
struct Reciprocal {
  template <typename C>
  C operator()(C x) const {
    return C{1} / x;
  }
};
struct BitwiseNot {
  template <typename C>
  C operator()(C x) const {
    return static_cast<C>(~x);
  }
};

}  // namespace

// A functor that calls one function of <cmath> or vector_math.
#define PLIMSOLL_UNARY_FUNCTION(NAME, FUNCTION) \
  namespace {                                   \
  struct NAME {                                 \
    template <typename C>                       \
    C operator()(C x) const {                   \
      return FUNCTION(x);                       \
    }                                           \
  };                                            \
  }
PLIMSOLL_UNARY_FUNCTION(Ceil, vector_math::ceil)
PLIMSOLL_UNARY_FUNCTION(Floor, vector_math::floor)
PLIMSOLL_UNARY_FUNCTION(Round, vector_math::round_even)
PLIMSOLL_UNARY_FUNCTION(Exp, vector_math::exp)
PLIMSOLL_UNARY_FUNCTION(Erf, vector_math::erf)
PLIMSOLL_UNARY_FUNCTION(Tanh, vector_math::tanh)
PLIMSOLL_UNARY_FUNCTION(Sqrt, std::sqrt)
PLIMSOLL_UNARY_FUNCTION(Log, std::log)
PLIMSOLL_UNARY_FUNCTION(Sin, std::sin)
PLIMSOLL_UNARY_FUNCTION(Cos, std::cos)
PLIMSOLL_UNARY_FUNCTION(Tan, std::tan)
PLIMSOLL_UNARY_FUNCTION(Asin, std::asin)
PLIMSOLL_UNARY_FUNCTION(Acos, std::acos)
PLIMSOLL_UNARY_FUNCTION(Atan, std::atan)
PLIMSOLL_UNARY_FUNCTION(Sinh, std::sinh)
PLIMSOLL_UNARY_FUNCTION(Cosh, std::cosh)
PLIMSOLL_UNARY_FUNCTION(Asinh, std::asinh)
PLIMSOLL_UNARY_FUNCTION(Acosh, std::acosh)
PLIMSOLL_UNARY_FUNCTION(Atanh, std::atanh)
#undef PLIMSOLL_UNARY_FUNCTION

void register_unary_math(OperatorTable& table) {
  add_unary<Abs, NumericTypes>(table, "Abs", {1, 6, 13});
  add_unary<Neg, decltype(FloatTypes{} + SignedTypes{})>(table, "Neg", {1, 6, 13});
  add_unary<Sign, NumericTypes>(table, "Sign", {9, 13});
  add_unary<Reciprocal, FloatTypes>(table, "Reciprocal", {1, 6, 13});
  add_unary<BitwiseNot, IntegerTypes>(table, "BitwiseNot", {18});
  add_unary<Ceil, FloatTypes>(table, "Ceil", {1, 6, 13});
  add_unary<Floor, FloatTypes>(table, "Floor", {1, 6, 13});
  add_unary<Round, FloatTypes>(table, "Round", {11});
  add_unary<Exp, FloatTypes>(table, "Exp", {1, 6, 13});
  add_unary<Erf, FloatTypes>(table, "Erf", {9, 13});
  add_unary<Tanh, FloatTypes>(table, "Tanh", {1, 6, 13});
  add_unary<Sqrt, FloatTypes>(table, "Sqrt", {1, 6, 13});
  add_unary<Log, FloatTypes>(table, "Log", {1, 6, 13});
  add_unary<Sin, FloatTypes>(table, "Sin", {7});
  add_unary<Cos, FloatTypes>(table, "Cos", {7});
  add_unary<Tan, FloatTypes>(table, "Tan", {7});
  add_unary<Asin, FloatTypes>(table, "Asin", {7});
  add_unary<Acos, FloatTypes>(table, "Acos", {7});
  add_unary<Atan, FloatTypes>(table, "Atan", {7});
  add_unary<Sinh, FloatTypes>(table, "Sinh", {9});
  add_unary<Cosh, FloatTypes>(table, "Cosh", {9});
  add_unary<Asinh, FloatTypes>(table, "Asinh", {9});
  add_unary<Acosh, FloatTypes>(table, "Acosh", {9});
  add_unary<Atanh, FloatTypes>(table, "Atanh", {9});
}

void register_elementwise_unary(OperatorTable& table) {
  register_unary_math(table);
  register_activations(table);
  register_predicates(table);
}

}  // namespace plimsoll::tensor
