#include "tensor/operators/scans.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/dispatch.h"
#include "tensor/operators/integer_math.h"
#include "tensor/operators/shaping.h"

namespace plimsoll::tensor {
namespace {

/// Input elements that one thread takes at least.
constexpr std::int64_t scan_grain = 16 * 1024;
/// Columns that are scanned side by side.
constexpr std::int64_t column_block = 256;

void infer_arg(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, numeric_types);
  const std::size_t axis = normalize_axis(context.node().integer("axis", 0), type.shape.rank());
  if (type.shape[axis] == 0) fail_input("an empty dimension has no largest or smallest element");
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  if (context.node().integer("keepdims", 1) != 0) {
    dimensions[axis] = 1;
  } else {
    dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  context.set_output(0, ElementType::i64, Shape(dimensions));
}

/// Calls body(outer, first, count) for blocks of columns that cover all of them.
template <typename F>
void for_column_blocks(kernels::ThreadPool& threads, const AxisView& view, const F& body) {
  const std::int64_t blocks = (view.inner + column_block - 1) / column_block;
  const std::int64_t work = std::min(view.inner, column_block) * view.length;
  const std::int64_t grain =
      std::max<std::int64_t>(1, scan_grain / std::max<std::int64_t>(1, work));
  threads.parallel_for(view.outer * blocks, grain,
                       [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                         for (std::int64_t index = begin; index < end; ++index) {
                           const std::int64_t first = index % blocks * column_block;
                           body(index / blocks, first, std::min(column_block, view.inner - first));
                         }
                       });
}

/// The index of the best element along the axis; of equal ones the first, or the last where the
/// node asks for it. A NaN is never better than a number.
template <bool largest>
void run_arg(RunContext& context) {
  const ConstTensorView input = context.input(0);
  auto* output = context.output(0).as<std::int64_t>();
  const AxisView view(input.shape,
                      normalize_axis(context.node().integer("axis", 0), input.shape.rank()));
  const bool take_last = context.node().integer("select_last_index", 0) != 0;
  dispatch(input.type, NumericTypes{}, [&]<typename T>(Tag<T>) {
    using C = Compute<T>;
    for_column_blocks(context.threads(), view,
                      [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
                        std::array<C, static_cast<std::size_t>(column_block)> best;
                        const T* data = input.as<T>() + outer * view.length * view.inner + first;
                        std::int64_t* to = output + outer * view.inner + first;
                        for (std::int64_t i = 0; i < count; ++i) {
                          best[static_cast<std::size_t>(i)] = load(data[i]);
                          to[i] = 0;
                        }
                        for (std::int64_t step = 1; step < view.length; ++step) {
                          const T* row = data + step * view.inner;
                          for (std::int64_t i = 0; i < count; ++i) {
                            C& champion = best[static_cast<std::size_t>(i)];
                            const C value = load(row[i]);
                            const bool better = largest ? value > champion : value < champion;
                            if (better || (take_last && value == champion) ||
                                (champion != champion && value == value)) {
                              champion = value;
                              to[i] = step;
                            }
                          }
                        }
                      });
  });
}

void infer_cumulative_sum(InferContext& context) {
  check_input_count(context, 2, 2);
  check_type(context, 0, numeric_types);
  check_rank(context, 0, 1, Shape::max_rank);
  check_type(context, 1, index_types);
  check_scalar(context, 1);
  infer_same(context);
}

void run_cumulative_sum(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const AxisView view(input.shape,
                      normalize_axis(read_integers(context.input(1))[0], input.shape.rank()));
  const bool exclusive = context.node().integer("exclusive", 0) != 0;
  const bool reverse = context.node().integer("reverse", 0) != 0;
  dispatch(input.type, NumericTypes{}, [&]<typename T>(Tag<T>) {
    using C = Compute<T>;
    for_column_blocks(context.threads(), view,
                      [&](std::int64_t outer, std::int64_t first, std::int64_t count) {
                        std::array<C, static_cast<std::size_t>(column_block)> sums{};
                        const std::int64_t base = outer * view.length * view.inner + first;
                        for (std::int64_t step = 0; step < view.length; ++step) {
                          const std::int64_t position = reverse ? view.length - 1 - step : step;
                          const T* from = input.as<T>() + base + position * view.inner;
                          T* to = output.as<T>() + base + position * view.inner;
                          for (std::int64_t i = 0; i < count; ++i) {
                            C& sum = sums[static_cast<std::size_t>(i)];
                            const C before = sum;
                            if constexpr (std::is_integral_v<C>) {
                              sum = wrapping_add(sum, load(from[i]));
                            } else {
                              sum += load(from[i]);
                            }
                            to[i] = store<T>(exclusive ? before : sum);
                          }
                        }
                      });
  });
}

}  // namespace

void register_scans(OperatorTable& table) {
  for (int version : {1, 11, 12, 13}) {
    table.add(
        {.name = "ArgMax", .since_version = version, .infer = infer_arg, .run = run_arg<true>});
    table.add(
        {.name = "ArgMin", .since_version = version, .infer = infer_arg, .run = run_arg<false>});
  }
  for (int version : {11, 14}) {
    table.add({.name = "CumSum",
               .since_version = version,
               .infer = infer_cumulative_sum,
               .run = run_cumulative_sum,
               .in_place_input = 0});
  }
}

}  // namespace plimsoll::tensor
