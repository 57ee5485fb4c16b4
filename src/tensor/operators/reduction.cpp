// ReduceSum, ReduceMean, ReduceMax and their kin.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/integer_math.h"
#include "tensor/operators/reduction_loop.h"
#include "tensor/operators/scans.h"
#include "tensor/operators/shaping.h"
#include "tensor/operators/vector_math.h"

namespace plimsoll::tensor {

ReductionShape::ReductionShape(const Shape& shape,
                               const std::array<bool, Shape::max_rank>& reduce) {
  bool previous = false;
  bool first = true;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const Dimension dimension{shape[axis], shape.product(axis + 1, shape.rank())};
    auto& list = reduce[axis] ? reduced : kept;
    std::size_t& rank = reduce[axis] ? reduced_rank : kept_rank;
    (reduce[axis] ? reductions : outputs) *= shape[axis];
    if (!first && previous == reduce[axis]) {
      list[rank - 1] = {list[rank - 1].size * dimension.size, dimension.stride};
    } else {
      list[rank++] = dimension;
    }
    previous = reduce[axis];
    first = false;
  }
  // Nothing is reduced: every element is a run of one, or a row without steps if there is a row.
  last_is_reduced = first || previous;
  if (last_is_reduced && reduced_rank == 0) reduced[reduced_rank++] = {1, 1};
}

namespace {

/// Integers add up in 64 bits, wrapping; 16-bit floats in f32.
template <typename C>
using Wide =
    std::conditional_t<std::is_floating_point_v<C>, C,
                       std::conditional_t<std::is_signed_v<C>, std::int64_t, std::uint64_t>>;

template <typename C>
struct SumBase {
  using Sum = Wide<C>;
  static constexpr bool needs_maximum = false;
  static Sum start() { return 0; }
  static Sum join(Sum a, Sum b) {
    if constexpr (std::is_integral_v<Sum>) {
      return wrapping_add(a, b);
    } else {
      return a + b;
    }
  }
  static Sum square(C value) {
    const Sum wide = value;
    if constexpr (std::is_integral_v<Sum>) {
      return wrapping_multiply(wide, wide);
    } else {
      return wide * wide;
    }
  }
  static Sum finish(Sum sum, std::int64_t /*count*/, C /*maximum*/) { return sum; }
};
/// A function of the sum that integers compute in f64.
template <typename Sum, typename F>
Sum through_float(Sum sum, const F& function) {
  if constexpr (std::is_integral_v<Sum>) {
    return truncated<Sum>(function(static_cast<double>(sum)));
  } else {
    return function(sum);
  }
}

template <typename C>
struct Total : SumBase<C> {
  using Base = SumBase<C>;
  static auto add(typename Base::Sum sum, C value, C /*maximum*/) {
    return Base::join(sum, static_cast<typename Base::Sum>(value));
  }
};
template <typename C>
struct Mean : Total<C> {
  using S = typename SumBase<C>::Sum;
  static S finish(S sum, std::int64_t count, C /*maximum*/) {
    if constexpr (std::is_integral_v<S>) {
      return defined_divide(sum, static_cast<S>(count));
    } else {
      return sum / static_cast<S>(count);
    }
  }
};
template <typename C>
struct L1 : SumBase<C> {
  using Base = SumBase<C>;
  static auto add(typename Base::Sum sum, C value, C /*maximum*/) {
    using S = typename Base::Sum;
    const S wide = value;
    if constexpr (std::is_floating_point_v<S>) {
      return sum + std::fabs(wide);
    } else if constexpr (std::is_signed_v<S>) {
      return wrapping_add(sum, wide < 0 ? wrapping_negate(wide) : wide);
    } else {
      return wrapping_add(sum, wide);
    }
  }
};
template <typename C>
struct SumSquare : SumBase<C> {
  using Base = SumBase<C>;
  static auto add(typename Base::Sum sum, C value, C /*maximum*/) {
    return Base::join(sum, Base::square(value));
  }
};
template <typename C>
struct L2 : SumSquare<C> {
  using S = typename SumBase<C>::Sum;
  static S finish(S sum, std::int64_t /*count*/, C /*maximum*/) {
    return through_float(sum, [](auto x) { return std::sqrt(x); });
  }
};
template <typename C>
struct LogSum : Total<C> {
  using S = typename SumBase<C>::Sum;
  static S finish(S sum, std::int64_t /*count*/, C /*maximum*/) {
    return through_float(sum, [](auto x) { return std::log(x); });
  }
};
template <typename C>
struct Prod : SumBase<C> {
  using S = typename SumBase<C>::Sum;
  static S start() { return 1; }
  static S join(S a, S b) {
    if constexpr (std::is_integral_v<S>) {
      return wrapping_multiply(a, b);
    } else {
      return a * b;
    }
  }
  static S add(S sum, C value, C /*maximum*/) { return join(sum, static_cast<S>(value)); }
};
/// ln Σ e^(x − m) + m with m the largest x, so that no power overflows.
template <typename C>
struct LogSumExp {
  using Sum = std::conditional_t<std::is_integral_v<C>, double, C>;
  static constexpr bool needs_maximum = true;
  /// An infinite maximum would give ∞ − ∞; without a shift the powers are right by themselves.
  static C shift(C maximum) {
    if constexpr (std::is_floating_point_v<C>) {
      if (!std::isfinite(maximum)) return 0;
    }
    return maximum;
  }
  static Sum start() { return 0; }
  static Sum add(Sum sum, C value, C maximum) {
    return sum + vector_math::exp(static_cast<Sum>(value) - static_cast<Sum>(maximum));
  }
  static Sum join(Sum a, Sum b) { return a + b; }
  static auto finish(Sum sum, std::int64_t /*count*/, C maximum) {
    const Sum result = std::log(sum) + static_cast<Sum>(maximum);
    if constexpr (std::is_integral_v<C>) {
      return truncated<C>(result);
    } else {
      return result;
    }
  }
};
template <typename C>
struct Min : MaximumReducer<C> {
  static C start() {
    return std::numeric_limits<C>::has_infinity ? std::numeric_limits<C>::infinity()
                                                : std::numeric_limits<C>::max();
  }
  static C add(C sum, C value, C /*maximum*/) { return join(sum, value); }
  static C join(C a, C b) {
    const C smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};

/// Whether the axes are the second input: from version 13 for ReduceSum, from 18 for the others.
bool axes_are_input(const Node& node) {
  return node.opset >= (node.op_type == "ReduceSum" ? 13 : 18);
}

template <typename Context>
std::array<bool, Shape::max_rank> reduced_axes(const Context& context, const Shape& shape) {
  const Node& node = context.node();
  std::vector<std::int64_t> axes;
  bool none = false;
  if (axes_are_input(node)) {
    if (context.has_input(1)) axes = integers_at(context, 1);
    none = axes.empty() && node.integer("noop_with_empty_axes", 0) != 0;
  } else {
    axes = node.integers("axes");
  }
  std::array<bool, Shape::max_rank> reduce{};
  if (axes.empty()) {
    reduce.fill(!none);
  } else {
    for (std::size_t axis : normalize_axes(axes, shape.rank())) reduce[axis] = true;
  }
  return reduce;
}

template <typename List>
void infer_reduce(InferContext& context) {
  check_input_count(context, 1, axes_are_input(context.node()) ? 2 : 1);
  const TensorType& type = check_type(context, 0, set_of(List{}));
  const auto reduce = reduced_axes(context, type.shape);
  const bool keep = context.node().integer("keepdims", 1) != 0;
  std::vector<std::int64_t> dimensions;
  for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
    if (!reduce[axis]) {
      dimensions.push_back(type.shape[axis]);
    } else if (keep) {
      dimensions.push_back(1);
    }
  }
  context.set_output(0, type.element, Shape(dimensions));
}

template <template <typename> typename Reducer, typename List>
void run_reduce(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const ReductionShape shape(input.shape, reduced_axes(context, input.shape));
  dispatch(input.type, List{}, [&]<typename T>(Tag<T>) {
    if constexpr (std::is_same_v<T, Boolean>) {
      // Booleans are ordered like the numbers 0 and 1.
      using Bytes = Reducer<std::uint8_t>;
      reduce_elements<Bytes>(context.threads(), shape, input.as<std::uint8_t>(),
                             output.as<std::uint8_t>());
    } else {
      reduce_elements<Reducer<Compute<T>>>(context.threads(), shape, input.as<T>(), output.as<T>());
    }
  });
}

template <template <typename> typename Reducer, typename List>
void add_reduce(OperatorTable& table, std::string_view name, std::initializer_list<int> versions) {
  for (int version : versions) {
    table.add({.name = name,
               .since_version = version,
               .infer = infer_reduce<List>,
               .run = run_reduce<Reducer, List>});
  }
}

}  // namespace

void register_reduction(OperatorTable& table) {
  using Summable =
      decltype(FloatTypes{} + Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{});
  add_reduce<Total, Summable>(table, "ReduceSum", {1, 11, 13});
  add_reduce<Mean, Summable>(table, "ReduceMean", {1, 11, 13, 18});
  add_reduce<L1, Summable>(table, "ReduceL1", {1, 11, 13, 18});
  add_reduce<L2, Summable>(table, "ReduceL2", {1, 11, 13, 18});
  add_reduce<SumSquare, Summable>(table, "ReduceSumSquare", {1, 11, 13, 18});
  add_reduce<LogSum, Summable>(table, "ReduceLogSum", {1, 11, 13, 18});
  add_reduce<LogSumExp, Summable>(table, "ReduceLogSumExp", {1, 11, 13, 18});
  add_reduce<Prod, Summable>(table, "ReduceProd", {1, 11, 13, 18});
  add_reduce<MaximumReducer, NumericTypes>(table, "ReduceMax", {1, 11, 12, 13, 18});
  add_reduce<MaximumReducer, AllTypes>(table, "ReduceMax", {20});
  add_reduce<Min, NumericTypes>(table, "ReduceMin", {1, 11, 12, 13, 18});
  add_reduce<Min, AllTypes>(table, "ReduceMin", {20});
  register_scans(table);
}

}  // namespace plimsoll::tensor
