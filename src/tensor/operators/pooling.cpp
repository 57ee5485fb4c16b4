// MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool. Semantics: ONNX Operators.md.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/number.h"
#include "tensor/operators/spatial.h"

namespace plimsoll::tensor {
namespace {

constexpr TypeSet pool_types = float_types | TypeSet{ElementType::i8, ElementType::u8};

SpatialWindow pool_window(const Node& node, const Shape& input) {
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  if (kernel.empty()) fail_input("attribute 'kernel_shape' is missing");
  return spatial_window(node, input, kernel, node.integer("ceil_mode", 0) != 0);
}

void infer_pool(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& input = check_type(context, 0, pool_types);
  const SpatialWindow window = pool_window(context.node(), input.shape);
  std::vector<std::int64_t> output{input.shape[0], input.shape[1]};
  output.insert(output.end(), window.output.begin(), window.output.end());
  context.set_output(0, input.element, Shape(output));
  context.set_output(1, ElementType::i64, Shape(output));
}

/// Calls body(plane, output position) for all, in parallel over planes.
template <typename F>
void for_each_position(RunContext& context, const SpatialWindow& window, const F& body) {
  const Shape& shape = context.input(0).shape;
  const std::int64_t positions = window.output_positions();
  context.threads().parallel_for(
      shape[0] * shape[1], 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
          for (std::int64_t position = 0; position < positions; ++position) body(plane, position);
        }
      });
}

/// Index in column-major order of a plane, which storage_order 1 asks for.
std::int64_t column_major(const SpatialWindow& window, std::int64_t at) {
  std::int64_t result = 0;
  std::int64_t scale = window.input_positions();
  for (std::size_t axis = window.dimensions(); axis-- > 0;) {
    scale /= window.input[axis];
    result += at % window.input[axis] * scale;
    at /= window.input[axis];
  }
  return result;
}

void run_max_pool(RunContext& context) {
  const SpatialWindow window = pool_window(context.node(), context.input(0).shape);
  const bool columns = context.node().integer("storage_order", 0) == 1;
  dispatch(context.input(0).type, decltype(FloatTypes{} + Types<std::int8_t, std::uint8_t>{}){},
           [&]<typename T>(Tag<T> /*tag*/) {
             const T* x = context.input(0).as<T>();
             T* y = context.output(0).as<T>();
             auto* indices = context.has_output(1) ? context.output(1).as<std::int64_t>() : nullptr;
             const std::int64_t in = window.input_positions();
             const std::int64_t out = window.output_positions();
             for_each_position(context, window, [&](std::int64_t plane, std::int64_t position) {
               Arithmetic<T> best = -std::numeric_limits<Arithmetic<T>>::infinity();
               T value{};
               std::int64_t where = -1;
               for_each_tap(window, position, [&](std::int64_t at, std::int64_t) {
                 const Arithmetic<T> candidate = widen(x[plane * in + at]);
                 if (where < 0 || candidate > best) {
                   best = candidate;
                   value = x[plane * in + at];
                   where = at;
                 }
               });
               y[plane * out + position] = value;
               if (indices != nullptr) {
                 indices[plane * out + position] =
                     plane * in + (columns ? column_major(window, where) : where);
               }
             });
           });
}

/// Taps of one position that count for the mean when padding is included: those inside the padded
/// input (a window that ceil_mode lets stick out does not count beyond it).
std::int64_t padded_taps(const SpatialWindow& window, std::int64_t position) {
  std::int64_t count = 1;
  for (std::size_t axis = window.dimensions(); axis-- > 0;) {
    const std::int64_t origin =
        position % window.output[axis] * window.strides[axis] - window.pads_begin[axis];
    position /= window.output[axis];
    std::int64_t inside = 0;
    for (std::int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
      if (origin + tap * window.dilations[axis] < window.input[axis] + window.pads_end[axis]) {
        ++inside;
      }
    }
    count *= inside;
  }
  return count;
}

void run_average_pool(RunContext& context) {
  const SpatialWindow window = pool_window(context.node(), context.input(0).shape);
  const bool include_padding = context.node().integer("count_include_pad", 0) != 0;
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const T* x = context.input(0).as<T>();
    T* y = context.output(0).as<T>();
    const std::int64_t in = window.input_positions();
    const std::int64_t out = window.output_positions();
    for_each_position(context, window, [&](std::int64_t plane, std::int64_t position) {
      Arithmetic<T> sum = 0;
      std::int64_t count = 0;
      for_each_tap(window, position, [&](std::int64_t at, std::int64_t) {
        sum += widen(x[plane * in + at]);
        ++count;
      });
      if (include_padding) count = padded_taps(window, position);
      y[plane * out + position] =
          narrow<T>(count == 0 ? 0 : sum / static_cast<Arithmetic<T>>(count));
    });
  });
}

void infer_global(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& input = check_type(context, 0, float_types);
  if (input.shape.rank() < 2) fail_input("input 0 needs at least two dimensions");
  std::vector<std::int64_t> output(input.shape.rank(), 1);
  output[0] = input.shape[0];
  output[1] = input.shape[1];
  context.set_output(0, input.element, Shape(output));
}

template <bool average>
void run_global(RunContext& context) {
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const Shape& shape = context.input(0).shape;
    const T* x = context.input(0).as<T>();
    T* y = context.output(0).as<T>();
    const std::int64_t size = shape.product(2, shape.rank());
    context.threads().parallel_for(
        shape[0] * shape[1], 1, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t plane = begin; plane < end; ++plane) {
            Arithmetic<T> result = average || size == 0 ? 0 : widen(x[plane * size]);
            for (std::int64_t at = 0; at < size; ++at) {
              const Arithmetic<T> value = widen(x[plane * size + at]);
              result = average ? result + value : std::max(result, value);
            }
            if (average) result /= static_cast<Arithmetic<T>>(size);
            y[plane] = narrow<T>(result);
          }
        });
  });
}

}  // namespace

void register_pooling(OperatorTable& table) {
  table.add({.name = "MaxPool", .infer = infer_pool, .run = run_max_pool});
  table.add({.name = "AveragePool", .infer = infer_pool, .run = run_average_pool});
  table.add({.name = "GlobalAveragePool", .infer = infer_global, .run = run_global<true>});
  table.add({.name = "GlobalMaxPool", .infer = infer_global, .run = run_global<false>});
}

}  // namespace plimsoll::tensor
