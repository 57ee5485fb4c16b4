// Sum, Mean, Max and Min of any number of operands.
#include <vector>

#include "tensor/operators/elementwise_binary.h"
#include "tensor/operators/integer_math.h"

namespace plimsoll::tensor {
namespace {

struct SumOf {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return wrapping_add(a, b);
    } else {
      return a + b;
    }
  }
};
// Not std::max: a NaN in either operand is the result.
struct MaxOf {
  template <typename C>
  C operator()(C a, C b) const {
    const C larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
struct MinOf {
  template <typename C>
  C operator()(C a, C b) const {
    const C smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};

template <typename List>
void infer_variadic(InferContext& context) {
  check_input_count(context, 1, SIZE_MAX);
  const TensorType& first = check_type(context, 0, set_of(List{}));
  Shape shape = first.shape;
  for (std::size_t index = 1; index < context.input_count(); ++index) {
    if (!context.has_input(index)) check_input_count(context, index + 1, SIZE_MAX);
    check_same_type(context, 0, index);
    const Shape& other = context.input(index).shape;
    if (context.node().opset < 8 && other != shape) {
      fail_input("operands of different shapes (" + shape.to_string() + " and " +
                 other.to_string() + ") are allowed from opset 8");
    }
    shape = broadcast_shape(shape, other);
  }
  context.set_output(0, first.element, shape);
}

/// Elements that are accumulated at a time, on the stack.
constexpr std::int64_t block_elements = 512;

/// One operand: its elements and how it broadcasts.
template <typename T>
struct Operand {
  const T* data;
  BroadcastLoop loop;

  /// Calls combine(accumulator element, operand element) for output elements [begin, end).
  template <typename C, typename F>
  void fold(std::int64_t begin, std::int64_t end, C* accumulator, const F& combine) const {
    const std::int64_t step = loop.step(0);
    loop.run(begin, end,
             [&](std::int64_t offset, const BroadcastLoop::Offsets& offsets, std::int64_t length) {
               const T* source = data + offsets[0];
               C* target = accumulator + (offset - begin);
               if (step != 0) {
                 for (std::int64_t i = 0; i < length; ++i) {
                   target[i] = combine(target[i], load(source[i]));
                 }
               } else {
                 const C fixed = load(source[0]);
                 for (std::int64_t i = 0; i < length; ++i) target[i] = combine(target[i], fixed);
               }
             });
  }
};

/// Accumulates in blocks and writes each when all operands have been read: the output may be the
/// first operand's memory, and an operand may appear twice.
template <typename Op, typename List, bool divide>
void run_variadic(RunContext& context) {
  const TensorView output = context.output(0);
  const Op op;
  dispatch(output.type, List{}, [&]<typename T>(Tag<T>) {
    using C = Compute<T>;
    std::vector<Operand<T>> operands;
    for (std::size_t index = 0; index < context.input_count(); ++index) {
      const ConstTensorView view = context.input(index);
      operands.push_back({view.as<T>(), BroadcastLoop(output.shape, std::span(&view.shape, 1))});
    }
    const auto count = static_cast<float>(operands.size());
    context.threads().parallel_for(
        output.elements(), elementwise_grain,
        [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
          std::array<C, block_elements> sums;
          for (std::int64_t from = begin; from < end; from += block_elements) {
            const std::int64_t to = std::min(end, from + block_elements);
            operands[0].fold(from, to, sums.data(), [](C /*none*/, C value) { return value; });
            for (std::size_t index = 1; index < operands.size(); ++index) {
              operands[index].fold(from, to, sums.data(), op);
            }
            T* target = output.as<T>() + from;
            for (std::int64_t i = 0; i < to - from; ++i) {
              if constexpr (divide) {
                target[i] = store<T>(sums[static_cast<std::size_t>(i)] / static_cast<C>(count));
              } else {
                target[i] = store<T>(sums[static_cast<std::size_t>(i)]);
              }
            }
          }
        });
  });
}

template <typename Op, typename List, bool divide = false>
void add_variadic(OperatorTable& table, std::string_view name,
                  std::initializer_list<int> versions) {
  for (int version : versions) {
    table.add({.name = name,
               .since_version = version,
               .infer = infer_variadic<List>,
               .run = run_variadic<Op, List, divide>,
               .in_place_input = 0});
  }
}

}  // namespace

void register_variadic(OperatorTable& table) {
  add_variadic<SumOf, FloatTypes>(table, "Sum", {1, 6, 8, 13});
  add_variadic<SumOf, FloatTypes, true>(table, "Mean", {1, 6, 8, 13});
  add_variadic<MaxOf, NumericTypes>(table, "Max", {1, 6, 8, 12, 13});
  add_variadic<MinOf, NumericTypes>(table, "Min", {1, 6, 8, 12, 13});
}

}  // namespace plimsoll::tensor
