// MatMulInteger and QLinearMatMul. Semantics: ONNX Operators.md. Sums are exact in 32 bits, which
// wrap.
#include <fmt/format.h>

#include "tensor/operators/checks.h"
#include "tensor/operators/linear_algebra.h"
#include "tensor/operators/quantize.h"

namespace plimsoll::tensor {
namespace {

using ByteTypes = Types<std::int8_t, std::uint8_t>;

/// Where the inputs of a product are; SIZE_MAX: the operator has no such input.
struct ProductInputs {
  std::size_t a;
  std::size_t b;
  std::size_t a_zero;
  std::size_t b_zero;
  std::size_t a_scale = SIZE_MAX;
  std::size_t b_scale = SIZE_MAX;
};
constexpr ProductInputs integer_inputs{0, 1, 2, 3};
constexpr ProductInputs linear_inputs{0, 3, 2, 5, 1, 4};

/// A zero point or scale is one value, one for each row of A (column of B), or one for each row
/// (column) of each matrix.
struct Granules {
  std::int64_t by_vector = 0;  ///< steps in the values
  std::int64_t by_batch = 0;
};

Granules granules(const Shape& shape, const Shape& matrix, bool rows, std::string_view what) {
  const std::int64_t count = shape.elements();
  if (count == 1) return {};
  const std::size_t axis = rows ? matrix.rank() - 2 : matrix.rank() - 1;
  if (matrix.rank() >= 2) {
    if (shape.rank() == 1 && count == matrix[axis]) return {1, 0};
    std::vector<std::int64_t> wanted = to_vector(matrix);
    wanted[rows ? matrix.rank() - 1 : matrix.rank() - 2] = 1;
    if (shape == Shape(wanted)) return {1, matrix[axis]};
  }
  fail_input(fmt::format("{} of shape {} fit neither the tensor of shape {} nor its {}", what,
                         shape.to_string(), matrix.to_string(), rows ? "rows" : "columns"));
}

void check_granules(const InferContext& context, std::size_t index, std::size_t matrix, bool rows,
                    std::string_view what) {
  if (index == SIZE_MAX || !context.has_input(index)) return;
  (void)granules(context.input(index).shape, context.input(matrix).shape, rows, what);
}

MatrixProductShape check_product(InferContext& context, const ProductInputs& inputs) {
  const TensorType& a = check_type(context, inputs.a, set_of(ByteTypes{}));
  const TensorType& b = check_type(context, inputs.b, set_of(ByteTypes{}));
  if (context.has_input(inputs.a_zero)) check_same_type(context, inputs.a_zero, inputs.a);
  if (context.has_input(inputs.b_zero)) check_same_type(context, inputs.b_zero, inputs.b);
  check_granules(context, inputs.a_zero, inputs.a, true, "zero points");
  check_granules(context, inputs.b_zero, inputs.b, false, "zero points");
  check_granules(context, inputs.a_scale, inputs.a, true, "scales");
  check_granules(context, inputs.b_scale, inputs.b, false, "scales");
  return {a.shape, b.shape};
}

void infer_matmul_integer(InferContext& context) {
  check_input_count(context, 2, 4);
  context.set_output(0, ElementType::i32, check_product(context, integer_inputs).output);
}

/// The product of bytes less their zero points; put(batch, i, j, sum).
template <typename A, typename B, typename Put>
void multiply_bytes(RunContext& context, const ProductInputs& inputs,
                    const MatrixProductShape& shape, const Put& put) {
  const A* a = context.input(inputs.a).as<A>();
  const B* b = context.input(inputs.b).as<B>();
  const A* a_zero =
      context.has_input(inputs.a_zero) ? context.input(inputs.a_zero).as<A>() : nullptr;
  const B* b_zero =
      context.has_input(inputs.b_zero) ? context.input(inputs.b_zero).as<B>() : nullptr;
  const Granules rows = a_zero == nullptr ? Granules{}
                                          : granules(context.input(inputs.a_zero).shape,
                                                     context.input(inputs.a).shape, true, "");
  const Granules columns = b_zero == nullptr ? Granules{}
                                             : granules(context.input(inputs.b_zero).shape,
                                                        context.input(inputs.b).shape, false, "");
  const A no_a = 0;
  const B no_b = 0;
  const auto left = [&](std::int64_t batch) {
    const std::int64_t own = shape.left_batch(batch);
    const A* matrix = a + own * shape.m * shape.k;
    const A* zeros = a_zero == nullptr ? &no_a : a_zero + own * rows.by_batch;
    return [matrix, zeros, step = shape.k, by = rows.by_vector](std::int64_t i, std::int64_t k) {
      return static_cast<std::uint32_t>(std::int32_t{matrix[i * step + k]} - zeros[i * by]);
    };
  };
  const auto right = [&](std::int64_t batch) {
    const std::int64_t own = shape.right_batch(batch);
    const B* matrix = b + own * shape.k * shape.n;
    const B* zeros = b_zero == nullptr ? &no_b : b_zero + own * columns.by_batch;
    return [matrix, zeros, step = shape.n, by = columns.by_vector](std::int64_t k, std::int64_t j) {
      return static_cast<std::uint32_t>(std::int32_t{matrix[k * step + j]} - zeros[j * by]);
    };
  };
  multiply<std::uint32_t, ProductOrder::columns>(context.threads(), shape.size(), left, right, put);
}

/// Calls body(Tag<A>, Tag<B>) for the element types of the two operands.
template <typename F>
void dispatch_bytes(const RunContext& context, const ProductInputs& inputs, const F& body) {
  dispatch(context.input(inputs.a).type, ByteTypes{}, [&]<typename A>(Tag<A> a) {
    dispatch(context.input(inputs.b).type, ByteTypes{}, [&]<typename B>(Tag<B> b) { body(a, b); });
  });
}

void run_matmul_integer(RunContext& context) {
  const MatrixProductShape shape(context.input(0).shape, context.input(1).shape);
  auto* y = context.output(0).as<std::int32_t>();
  dispatch_bytes(context, integer_inputs, [&]<typename A, typename B>(Tag<A>, Tag<B>) {
    multiply_bytes<A, B>(
        context, integer_inputs, shape,
        [&](std::int64_t batch, std::int64_t i, std::int64_t j, std::uint32_t sum) {
          y[(batch * shape.m + i) * shape.n + j] = static_cast<std::int32_t>(sum);
        });
  });
}

constexpr TypeSet scale_types{ElementType::f32, ElementType::f16, ElementType::bf16};

void infer_qlinear_matmul(InferContext& context) {
  check_input_count(context, 8, 8);
  const TypeSet scales = context.node().opset < 21 ? TypeSet{ElementType::f32} : scale_types;
  for (std::size_t index : {std::size_t{1}, std::size_t{4}, std::size_t{6}}) {
    check_type(context, index, scales);
  }
  check_scalar(context, 6);
  check_scalar(context, 7);
  const TensorType& output = check_type(context, 7, set_of(ByteTypes{}));
  context.set_output(0, output.element, check_product(context, linear_inputs).output);
}

/// The scales of an operand as f32, whatever they are stored in.
struct Scales {
  std::vector<float> values;
  Granules steps;

  Scales(const RunContext& context, std::size_t index, std::size_t matrix, bool rows)
      : values(read_floats(context.input(index))),
        steps(granules(context.input(index).shape, context.input(matrix).shape, rows, "")) {}
  [[nodiscard]] float at(std::int64_t batch, std::int64_t vector) const {
    return values[static_cast<std::size_t>(batch * steps.by_batch + vector * steps.by_vector)];
  }
};

void run_qlinear_matmul(RunContext& context) {
  const MatrixProductShape shape(context.input(0).shape, context.input(3).shape);
  const Scales a_scales(context, 1, 0, true);
  const Scales b_scales(context, 4, 3, false);
  const float y_scale = read_floats(context.input(6))[0];
  dispatch(context.output(0).type, ByteTypes{}, [&]<typename Y>(Tag<Y> /*tag*/) {
    Y* y = context.output(0).as<Y>();
    const auto zero = static_cast<float>(*context.input(7).as<Y>());
    dispatch_bytes(context, linear_inputs, [&]<typename A, typename B>(Tag<A>, Tag<B>) {
      multiply_bytes<A, B>(
          context, linear_inputs, shape,
          [&](std::int64_t batch, std::int64_t i, std::int64_t j, std::uint32_t sum) {
            const float scale = a_scales.at(shape.left_batch(batch), i) *
                                b_scales.at(shape.right_batch(batch), j) / y_scale;
            const auto real = static_cast<float>(static_cast<std::int32_t>(sum)) * scale;
            y[(batch * shape.m + i) * shape.n + j] = quantized<Y>(real, zero);
          });
    });
  });
}

}  // namespace

void register_quantized_products(OperatorTable& table) {
  table.add({.name = "MatMulInteger",
             .since_version = 10,
             .infer = infer_matmul_integer,
             .run = run_matmul_integer});
  table.add({.name = "QLinearMatMul",
             .since_version = 10,
             .infer = infer_qlinear_matmul,
             .run = run_qlinear_matmul});
}

}  // namespace plimsoll::tensor
