// Einsum. Semantics: ONNX Operators.md, which are numpy.einsum's.
#include <algorithm>
#include <array>

#include "tensor/operators/checks.h"
#include "tensor/operators/einsum_equation.h"
#include "tensor/operators/linear_algebra.h"

namespace plimsoll::tensor {
namespace {

using Label = EinsumEquation::Label;

/// Outputs along the last label that grow side by side.
constexpr std::int64_t einsum_columns = 32;

template <typename T>
using EinsumSum =
    std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4), std::uint32_t, ProductSum<T>>;

template <typename Context, typename ShapeOf>
EinsumEquation equation_of(const Context& context, const ShapeOf& shape_of) {
  if (context.node().attribute("equation") == nullptr) {
    fail_input("attribute 'equation' is missing");
  }
  std::vector<Shape> operands;
  for (std::size_t index = 0; index < context.input_count(); ++index) {
    operands.push_back(shape_of(index));
  }
  return {context.node().text("equation", ""), operands};
}

void infer_einsum(InferContext& context) {
  if (context.input_count() == 0) fail_input("input 0 is missing");
  check_input_count(context, context.input_count(), context.input_count());
  const TensorType& first = check_type(context, 0, numeric_types);
  for (std::size_t index = 1; index < context.input_count(); ++index) {
    check_same_type(context, 0, index);
  }
  const EinsumEquation equation =
      equation_of(context, [&](std::size_t index) { return context.input(index).shape; });
  context.set_output(0, first.element, equation.shape);
}

std::int64_t count_of(std::span<const Label> labels) {
  std::int64_t count = 1;
  for (const Label& label : labels) count *= label.size;
  return count;
}

/// Offset in an operand of position `index`, counted over the labels with the last one fastest.
std::int64_t offset_of(std::span<const Label> labels, std::int64_t index, std::size_t operand) {
  std::int64_t offset = 0;
  for (std::size_t at = labels.size(); at-- > 0;) {
    offset += index % labels[at].size * labels[at].steps[operand];
    index /= labels[at].size;
  }
  return offset;
}

/// One or two operands; the second of one operand is a 1 that never moves.
template <typename T>
class PairSum {
 public:
  using Sum = EinsumSum<T>;

  /// The last of `summed` runs innermost, for `count` outputs along `column`.
  PairSum(const T* a, const T* b, std::span<const Label> summed, const Label& column)
      : a_(a),
        b_(b),
        outer_(summed.first(summed.size() - 1)),
        inner_(summed.back()),
        outer_count_(count_of(outer_)),
        column_(column) {}

  void add(std::int64_t at_a, std::int64_t at_b, std::int64_t count, Sum* sums) const {
    const std::int64_t step_a = column_.steps[0];
    const std::int64_t step_b = column_.steps[1];
    const bool dots = inner_.steps[0] == 1 && inner_.steps[1] == 1 && step_a != 1 && step_b != 1;
    for (std::int64_t outer = 0; outer < outer_count_; ++outer) {
      const T* a = a_ + at_a + offset_of(outer_, outer, 0);
      const T* b = b_ + at_b + offset_of(outer_, outer, 1);
      if (dots) {
        for (std::int64_t c = 0; c < count; ++c) sums[c] += dot(a + c * step_a, b + c * step_b);
        continue;
      }
      for (std::int64_t k = 0; k < inner_.size; ++k) {
        add_columns(a, step_a, b, step_b, count, sums);
        a += inner_.steps[0];
        b += inner_.steps[1];
      }
    }
  }

 private:
  static Sum number(const T& value) { return static_cast<Sum>(load(value)); }

  static void add_columns(const T* a, std::int64_t step_a, const T* b, std::int64_t step_b,
                          std::int64_t count, Sum* sums) {
    if (step_a == 0 && step_b == 1) {
      const Sum fixed = number(*a);
      for (std::int64_t c = 0; c < count; ++c) sums[c] += fixed * number(b[c]);
    } else if (step_a == 1 && step_b == 0) {
      const Sum fixed = number(*b);
      for (std::int64_t c = 0; c < count; ++c) sums[c] += number(a[c]) * fixed;
    } else {
      for (std::int64_t c = 0; c < count; ++c) {
        sums[c] += number(a[c * step_a]) * number(b[c * step_b]);
      }
    }
  }

  [[nodiscard]] Sum dot(const T* a, const T* b) const {
    constexpr std::int64_t lanes = 8;
    std::array<Sum, lanes> sums{};
    std::int64_t k = 0;
    for (; k + lanes <= inner_.size; k += lanes) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        sums[static_cast<std::size_t>(lane)] += number(a[k + lane]) * number(b[k + lane]);
      }
    }
    for (std::int64_t rest = k; rest < inner_.size; ++rest) {
      sums[static_cast<std::size_t>(rest - k)] += number(a[rest]) * number(b[rest]);
    }
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
           ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }

  const T* a_;
  const T* b_;
  std::span<const Label> outer_;
  const Label& inner_;
  std::int64_t outer_count_;
  const Label& column_;
};

/// Any number of operands, element by element.
template <typename T>
EinsumSum<T> sum_of_products(std::span<const T* const> operands, const EinsumEquation& equation,
                             std::int64_t output, std::int64_t summed_count) {
  using Sum = EinsumSum<T>;
  Sum sum = 0;
  for (std::int64_t k = 0; k < summed_count; ++k) {
    Sum product = 1;
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
      const std::int64_t at =
          offset_of(equation.output, output, operand) + offset_of(equation.summed, k, operand);
      product *= static_cast<Sum>(load(operands[operand][at]));
    }
    sum += product;
  }
  return sum;
}

template <typename T>
void run_many(RunContext& context, const EinsumEquation& equation) {
  std::vector<const T*> operands;
  for (std::size_t index = 0; index < context.input_count(); ++index) {
    operands.push_back(context.input(index).as<T>());
  }
  T* y = context.output(0).as<T>();
  const std::int64_t summed_count = count_of(equation.summed);
  const std::int64_t grain =
      std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, summed_count));
  context.threads().parallel_for(
      equation.shape.elements(), grain, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t at = begin; at < end; ++at) {
          y[at] = store<T>(sum_of_products<T>(operands, equation, at, summed_count));
        }
      });
}

template <typename T>
void run_pair(RunContext& context, EinsumEquation equation) {
  using Sum = EinsumSum<T>;
  const T one = store<T>(Compute<T>{1});
  const bool single = context.input_count() == 1;
  const Label nothing{1, {0, 0}};
  for (std::vector<Label>* labels : {&equation.output, &equation.summed}) {
    for (Label& label : *labels) label.steps.resize(2);
    if (labels->empty()) labels->push_back(nothing);
  }
  const T* a = context.input(0).as<T>();
  const T* b = single ? &one : context.input(1).as<T>();
  T* y = context.output(0).as<T>();
  const Label& column = equation.output.back();
  const std::span<const Label> rows(equation.output.data(), equation.output.size() - 1);
  const PairSum<T> sum(a, b, equation.summed, column);
  const std::int64_t blocks = (column.size + einsum_columns - 1) / einsum_columns;
  const std::int64_t work =
      std::max<std::int64_t>(1, std::min(column.size, einsum_columns) * count_of(equation.summed));
  context.threads().parallel_for(
      count_of(rows) * blocks, std::max<std::int64_t>(1, 16 * 1024 / work),
      [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t row = task / blocks;
          const std::int64_t first = task % blocks * einsum_columns;
          const std::int64_t count = std::min(einsum_columns, column.size - first);
          std::array<Sum, einsum_columns> sums{};
          sum.add(offset_of(rows, row, 0) + first * column.steps[0],
                  offset_of(rows, row, 1) + first * column.steps[1], count, sums.data());
          T* to = y + row * column.size + first;
          for (std::int64_t c = 0; c < count; ++c) {
            to[c] = store<T>(sums[static_cast<std::size_t>(c)]);
          }
        }
      });
}

void run_einsum(RunContext& context) {
  const EinsumEquation equation =
      equation_of(context, [&](std::size_t index) { return context.input(index).shape; });
  dispatch(context.input(0).type, NumericTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    if (context.input_count() <= 2) {
      run_pair<T>(context, equation);
    } else {
      run_many<T>(context, equation);
    }
  });
}

}  // namespace

void register_einsum(OperatorTable& table) {
  table.add({.name = "Einsum", .since_version = 12, .infer = infer_einsum, .run = run_einsum});
}

}  // namespace plimsoll::tensor
