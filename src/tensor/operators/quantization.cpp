// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. Semantics: ONNX Operators.md.
//
// A scale (and zero point) is for the whole tensor, for each index of an axis, or, since opset 21,
// for each block of `block_size` consecutive indices of the axis; then it has the tensor's rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tensor/operators/axis_rows.h"
#include "tensor/operators/checks.h"
#include "tensor/operators/elementwise.h"
#include "tensor/operators/families.h"
#include "tensor/operators/quantize.h"

namespace plimsoll::tensor {
namespace {

using QuantizedTypes = Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>;
using QuantizableTypes = Types<float, Float16, BFloat16, std::int32_t>;
using ScaleTypes = Types<float, Float16, BFloat16>;

/// Where the scale of an element is: the tensor is rows × axis × inner (see axis_rows.h), and
/// the scales are rows × blocks × inner, or blocks alone.
struct Granularity {
  AxisRows rows;
  std::int64_t block = 1;   ///< indices of the axis that share a scale
  std::int64_t blocks = 1;  ///< along the axis
  bool per_row = false;     ///< scales differ by row and inner position too

  [[nodiscard]] std::int64_t scale_index(std::int64_t row, std::int64_t at) const {
    return per_row ? (row * blocks + at / block) * rows.inner : at / block;
  }
};

Granularity granularity(const Node& node, const Shape& shape, const Shape& scale) {
  Granularity result;
  const std::int64_t block_size = node.integer("block_size", 0);
  if (block_size < 0) fail_input("attribute 'block_size' is negative");
  if (scale.elements() == 1 && scale.rank() <= 1 && block_size == 0) {
    result.rows.inner = shape.elements();
    return result;
  }
  const std::size_t axis = normalize_axis(node.integer("axis", 1), shape.rank());
  result.rows = AxisRows(shape, axis);
  if (block_size == 0) {
    if (scale != Shape{shape[axis]}) {
      fail_input(fmt::format("a scale of shape {} does not fit dimension {} of {}",
                             scale.to_string(), axis, shape.to_string()));
    }
    result.blocks = shape[axis];
    return result;
  }
  result.per_row = true;
  result.block = block_size;
  result.blocks = shape[axis] / block_size + (shape[axis] % block_size != 0 ? 1 : 0);
  std::vector<std::int64_t> wanted = to_vector(shape);
  wanted[axis] = result.blocks;
  if (scale != Shape(wanted)) {
    fail_input(fmt::format("a scale of shape {} does not fit blocks of {}: {} is needed",
                           scale.to_string(), block_size, Shape(wanted).to_string()));
  }
  return result;
}

void check_zero_point(const InferContext& context, std::size_t scale, std::size_t zero_point) {
  if (context.input(zero_point).shape.elements() != context.input(scale).shape.elements() ||
      context.input(zero_point).shape.rank() != context.input(scale).shape.rank()) {
    fail_input(fmt::format("a zero point of shape {} does not fit a scale of shape {}",
                           context.input(zero_point).shape.to_string(),
                           context.input(scale).shape.to_string()));
  }
}

/// Calls body(first, count, scale, step) in parallel: `count` elements from `first` on whose scales
/// start at `scale` and advance by `step` (0 or 1).
template <typename F>
void for_each_scale(kernels::ThreadPool& threads, const Granularity& shape, const F& body) {
  const AxisRows& rows = shape.rows;
  if (rows.inner == 1 && shape.block == 1 && rows.size > 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, elementwise_grain / rows.size);
    threads.parallel_for(rows.outer, grain, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row) {
        body(row * rows.size, rows.size, shape.scale_index(row, 0), 1);
      }
    });
    return;
  }
  if (rows.inner == 1 && shape.block > 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, elementwise_grain / shape.block);
    threads.parallel_for(rows.outer * shape.blocks, grain,
                         [&](std::int64_t begin, std::int64_t end, int) {
                           for (std::int64_t block = begin; block < end; ++block) {
                             const std::int64_t first = block % shape.blocks * shape.block;
                             body(block / shape.blocks * rows.size + first,
                                  std::min(shape.block, rows.size - first), block, 0);
                           }
                         });
    return;
  }
  const std::int64_t lines = rows.outer * rows.size;
  if (lines == 1) {
    threads.parallel_for(rows.inner, elementwise_grain,
                         [&](std::int64_t begin, std::int64_t end, int) {
                           body(begin, end - begin, shape.per_row ? begin : 0, shape.per_row);
                         });
    return;
  }
  const std::int64_t grain =
      std::max<std::int64_t>(1, elementwise_grain / std::max<std::int64_t>(1, rows.inner));
  threads.parallel_for(lines, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t line = begin; line < end; ++line) {
      body(line * rows.inner, rows.inner, shape.scale_index(line / rows.size, line % rows.size),
           shape.per_row);
    }
  });
}

ElementType quantized_type(const InferContext& context) {
  const ElementType declared =
      element_attribute(context.node(), "output_dtype", ElementType::undefined);
  if (!context.has_input(2)) {
    return declared == ElementType::undefined ? ElementType::u8 : declared;
  }
  const ElementType type = context.input(2).element;
  if (declared != ElementType::undefined && declared != type) {
    fail_input(fmt::format("attribute 'output_dtype' is {}, but the zero point is {}",
                           element_name(declared), element_name(type)));
  }
  return type;
}

void infer_quantize(InferContext& context) {
  check_input_count(context, 2, 3);
  const TensorType& input = check_type(context, 0, set_of(QuantizableTypes{}));
  const TensorType& scale = check_type(context, 1, set_of(ScaleTypes{}));
  if (context.node().opset < 19 && scale.element != ElementType::f32) {
    fail_input("the scale must be f32 before opset 19");
  }
  (void)granularity(context.node(), input.shape, scale.shape);
  if (context.has_input(2)) check_zero_point(context, 1, 2);
  const ElementType output = quantized_type(context);
  if (!set_of(QuantizedTypes{}).contains(output)) {
    fail_input(fmt::format("nothing is quantised to {}", element_name(output)));
  }
  context.set_output(0, output, input.shape);
}

template <typename T, typename S, typename Q>
void quantize(RunContext& context) {
  const T* x = context.input(0).as<T>();
  const S* scales = context.input(1).as<S>();
  const Q* zeros = context.has_input(2) ? context.input(2).as<Q>() : nullptr;
  Q* y = context.output(0).as<Q>();
  const Granularity shape =
      granularity(context.node(), context.input(0).shape, context.input(1).shape);
  const auto zero_at = [&](std::int64_t at) {
    return zeros == nullptr ? 0.0F : static_cast<float>(zeros[at]);
  };
  for_each_scale(context.threads(), shape,
                 [&](std::int64_t first, std::int64_t count, std::int64_t at, std::int64_t step) {
                   if (step == 0) {
                     const float scale = load(scales[at]);
                     const float zero = zero_at(at);
                     for (std::int64_t i = first; i < first + count; ++i) {
                       y[i] = quantized<Q>(static_cast<float>(load(x[i])) / scale, zero);
                     }
                   } else {
                     for (std::int64_t i = 0; i < count; ++i) {
                       y[first + i] = quantized<Q>(static_cast<float>(load(x[first + i])) /
                                                       static_cast<float>(load(scales[at + i])),
                                                   zero_at(at + i));
                     }
                   }
                 });
}

void run_quantize(RunContext& context) {
  dispatch(context.input(0).type, QuantizableTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    dispatch(context.input(1).type, ScaleTypes{}, [&]<typename S>(Tag<S> /*tag*/) {
      dispatch(context.output(0).type, QuantizedTypes{},
               [&]<typename Q>(Tag<Q> /*tag*/) { quantize<T, S, Q>(context); });
    });
  });
}

using DequantizableTypes = decltype(QuantizedTypes{} + Types<std::int32_t>{});

void infer_dequantize(InferContext& context) {
  check_input_count(context, 2, 3);
  const TensorType& input = check_type(context, 0, set_of(DequantizableTypes{}));
  const TensorType& scale = check_type(context, 1, set_of(ScaleTypes{}));
  if (context.node().opset < 19 && scale.element != ElementType::f32) {
    fail_input("the scale must be f32 before opset 19");
  }
  (void)granularity(context.node(), input.shape, scale.shape);
  if (context.has_input(2)) {
    check_same_type(context, 0, 2);
    check_zero_point(context, 1, 2);
  }
  context.set_output(0, scale.element, input.shape);
}

/// x − zero point: exact in i32 for narrow types; i32 itself may need more.
template <typename Q>
[[nodiscard]] float centred(Q value, Q zero) {
  if constexpr (sizeof(Q) == 4) {
    return static_cast<float>(std::int64_t{value} - std::int64_t{zero});
  } else {
    return static_cast<float>(std::int32_t{value} - std::int32_t{zero});
  }
}

template <typename Q, typename S>
void dequantize(RunContext& context) {
  const Q* x = context.input(0).as<Q>();
  const S* scales = context.input(1).as<S>();
  const Q* zeros = context.has_input(2) ? context.input(2).as<Q>() : nullptr;
  S* y = context.output(0).as<S>();
  const Granularity shape =
      granularity(context.node(), context.input(0).shape, context.input(1).shape);
  for_each_scale(context.threads(), shape,
                 [&](std::int64_t first, std::int64_t count, std::int64_t at, std::int64_t step) {
                   if (step == 0) {
                     const float scale = load(scales[at]);
                     const Q zero = zeros == nullptr ? Q{0} : zeros[at];
                     for (std::int64_t i = first; i < first + count; ++i) {
                       y[i] = store<S>(centred(x[i], zero) * scale);
                     }
                   } else {
                     for (std::int64_t i = 0; i < count; ++i) {
                       const Q zero = zeros == nullptr ? Q{0} : zeros[at + i];
                       y[first + i] = store<S>(centred(x[first + i], zero) *
                                               static_cast<float>(load(scales[at + i])));
                     }
                   }
                 });
}

void run_dequantize(RunContext& context) {
  dispatch(context.input(0).type, DequantizableTypes{}, [&]<typename Q>(Tag<Q> /*tag*/) {
    dispatch(context.input(1).type, ScaleTypes{},
             [&]<typename S>(Tag<S> /*tag*/) { dequantize<Q, S>(context); });
  });
}

// --- DynamicQuantizeLinear: the scale from the smallest and largest element, 0 within ----------

void infer_dynamic_quantize(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& input = check_type(context, 0, TypeSet{ElementType::f32});
  context.set_output(0, ElementType::u8, input.shape);
  context.set_output(1, ElementType::f32, Shape{});
  context.set_output(2, ElementType::u8, Shape{});
}

struct Range {
  float lowest = 0;
  float highest = 0;
};

Range range_of(kernels::ThreadPool& threads, const float* x, std::int64_t count) {
  std::array<Range, kernels::ThreadPool::max_threads> parts{};
  threads.parallel_for(count, elementwise_grain,
                       [&](std::int64_t begin, std::int64_t end, int thread) {
                         Range& part = parts[static_cast<std::size_t>(thread)];
                         float lowest = part.lowest;
                         float highest = part.highest;
                         for (std::int64_t i = begin; i < end; ++i) {
                           lowest = x[i] < lowest ? x[i] : lowest;
                           highest = x[i] > highest ? x[i] : highest;
                         }
                         part = {lowest, highest};
                       });
  Range all;
  for (const Range& part : parts) {
    all.lowest = std::min(all.lowest, part.lowest);
    all.highest = std::max(all.highest, part.highest);
  }
  return all;
}

void run_dynamic_quantize(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const auto* x = input.as<float>();
  const Range range = range_of(context.threads(), x, input.elements());
  // A tensor of zeros has no scale of its own; 1 maps it to itself.
  const float scale =
      range.lowest == range.highest ? 1.0F : (range.highest - range.lowest) / 255.0F;
  const auto zero = quantized<std::uint8_t>(-range.lowest / scale, 0);
  if (context.has_output(1)) *context.output(1).as<float>() = scale;
  if (context.has_output(2)) *context.output(2).as<std::uint8_t>() = zero;
  if (!context.has_output(0)) return;
  const auto shift = static_cast<float>(zero);
  map_elements(context.threads(), x, context.output(0).as<std::uint8_t>(), input.elements(),
               [&](float value) { return quantized<std::uint8_t>(value / scale, shift); });
}

}  // namespace

void register_quantization(OperatorTable& table) {
  table.add({.name = "QuantizeLinear",
             .since_version = 10,
             .infer = infer_quantize,
             .run = run_quantize});
  table.add({.name = "DequantizeLinear",
             .since_version = 10,
             .infer = infer_dequantize,
             .run = run_dequantize});
  table.add({.name = "DynamicQuantizeLinear",
             .since_version = 11,
             .infer = infer_dynamic_quantize,
             .run = run_dynamic_quantize});
}

}  // namespace plimsoll::tensor
