// MatMul, Gemm, MatMulInteger: the portable reference. Semantics: ONNX Operators.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tensor/operators/broadcast.h"
#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/number.h"

namespace plimsoll::tensor {
namespace {

/// numpy.matmul's shapes: vectors gain a dimension of 1 and lose it again.
struct ProductShape {
  Shape batch_a;
  Shape batch_b;
  Shape batch;
  std::int64_t m = 1;
  std::int64_t k = 0;
  std::int64_t n = 1;
  Shape output;
};

ProductShape product_shape(const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) fail_input("a scalar has no matrix product");
  ProductShape shape;
  const bool vector_a = a.rank() == 1;
  const bool vector_b = b.rank() == 1;
  shape.k = a.back();
  shape.m = vector_a ? 1 : a[a.rank() - 2];
  const std::int64_t rows = vector_b ? b[0] : b[b.rank() - 2];
  shape.n = vector_b ? 1 : b.back();
  if (rows != shape.k) {
    fail_input(fmt::format("inputs of shape {} and {} have no matrix product: {} and {} differ",
                           a.to_string(), b.to_string(), shape.k, rows));
  }
  if (!vector_a) shape.batch_a = Shape(a.dimensions().first(a.rank() - 2));
  if (!vector_b) shape.batch_b = Shape(b.dimensions().first(b.rank() - 2));
  shape.batch = broadcast_shape(shape.batch_a, shape.batch_b);
  std::vector<std::int64_t> output = to_vector(shape.batch);
  if (!vector_a) output.push_back(shape.m);
  if (!vector_b) output.push_back(shape.n);
  shape.output = Shape(output);
  return shape;
}

void infer_matmul(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& a = check_type(context, 0,
                                   float_types | TypeSet{ElementType::i32, ElementType::i64,
                                                         ElementType::u32, ElementType::u64});
  check_same_type(context, 0, 1);
  context.set_output(0, a.element, product_shape(a.shape, context.input(1).shape).output);
}

/// Offset of a batch of an operand for a batch of the output.
std::int64_t operand_batch(const Shape& output, const Shape& operand, std::int64_t batch) {
  std::int64_t offset = 0;
  std::int64_t scale = 1;
  for (std::size_t back = 1; back <= output.rank(); ++back) {
    const std::int64_t size = output[output.rank() - back];
    const std::int64_t at = batch % size;
    batch /= size;
    if (back > operand.rank()) continue;
    const std::int64_t own = operand[operand.rank() - back];
    if (own != 1) offset += at * scale;
    scale *= own;
  }
  return offset;
}

template <typename T, typename Sum, typename Load, typename Store>
void multiply(RunContext& context, const Load& load, const Store& store) {
  const ConstTensorView a = context.input(0);
  const ConstTensorView b = context.input(1);
  const ProductShape shape = product_shape(a.shape, b.shape);
  const std::int64_t batches = shape.batch.elements();
  context.threads().parallel_for(
      batches * shape.m, 1, [&](std::int64_t begin, std::int64_t end, int) {
        // A few columns at a time keep their sums in registers and walk B by rows.
        constexpr std::int64_t columns = 16;
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t batch = row / shape.m;
          const std::int64_t i = row % shape.m;
          const std::int64_t at_a =
              (operand_batch(shape.batch, shape.batch_a, batch) * shape.m + i) * shape.k;
          const std::int64_t at_b =
              operand_batch(shape.batch, shape.batch_b, batch) * shape.k * shape.n;
          for (std::int64_t first = 0; first < shape.n; first += columns) {
            const std::int64_t count = std::min(columns, shape.n - first);
            std::array<Sum, columns> sums{};
            for (std::int64_t k = 0; k < shape.k; ++k) {
              const Sum left = load(0, at_a + k);
              for (std::int64_t j = 0; j < count; ++j) {
                sums[static_cast<std::size_t>(j)] += left * load(1, at_b + k * shape.n + first + j);
              }
            }
            for (std::int64_t j = 0; j < count; ++j) {
              store(row * shape.n + first + j, sums[static_cast<std::size_t>(j)]);
            }
          }
        }
      });
}

void run_matmul(RunContext& context) {
  dispatch(
      context.input(0).type,
      decltype(FloatTypes{} + Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{}){},
      [&]<typename T>(Tag<T> /*tag*/) {
        const T* operands[] = {context.input(0).as<T>(), context.input(1).as<T>()};
        T* out = context.output(0).as<T>();
        if constexpr (std::is_integral_v<T>) {
          using U = std::make_unsigned_t<T>;  // wraps as the standard's integers do
          multiply<T, U>(
              context,
              [&](int which, std::int64_t at) { return static_cast<U>(operands[which][at]); },
              [&](std::int64_t at, U sum) { out[at] = static_cast<T>(sum); });
        } else {
          multiply<T, Arithmetic<T>>(
              context, [&](int which, std::int64_t at) { return widen(operands[which][at]); },
              [&](std::int64_t at, Arithmetic<T> sum) { out[at] = narrow<T>(sum); });
        }
      });
}

struct GemmShape {
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};

GemmShape gemm_shape(const Node& node, const Shape& a, const Shape& b) {
  if (a.rank() != 2 || b.rank() != 2) fail_input("inputs 0 and 1 must be matrices");
  GemmShape shape;
  shape.transpose_a = node.integer("transA", 0) != 0;
  shape.transpose_b = node.integer("transB", 0) != 0;
  shape.m = shape.transpose_a ? a[1] : a[0];
  shape.k = shape.transpose_a ? a[0] : a[1];
  shape.n = shape.transpose_b ? b[0] : b[1];
  if ((shape.transpose_b ? b[1] : b[0]) != shape.k) {
    fail_input(fmt::format("inputs of shape {} and {} do not fit", a.to_string(), b.to_string()));
  }
  return shape;
}

void infer_gemm(InferContext& context) {
  check_input_count(context, 2, 3);
  const TensorType& a = check_type(context, 0, float_types);
  check_same_type(context, 0, 1);
  const GemmShape shape = gemm_shape(context.node(), a.shape, context.input(1).shape);
  const Shape output{shape.m, shape.n};
  if (context.has_input(2)) check_broadcasts_to(context.input(2).shape, output);
  context.set_output(0, a.element, output);
}

void run_gemm(RunContext& context) {
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const GemmShape shape =
        gemm_shape(context.node(), context.input(0).shape, context.input(1).shape);
    const T* a = context.input(0).as<T>();
    const T* b = context.input(1).as<T>();
    T* out = context.output(0).as<T>();
    const auto alpha = static_cast<Arithmetic<T>>(context.node().real("alpha", 1.0F));
    const auto beta = static_cast<Arithmetic<T>>(context.node().real("beta", 1.0F));
    const T* c = context.has_input(2) ? context.input(2).as<T>() : nullptr;
    std::int64_t row_step = 0;
    std::int64_t column_step = 0;
    if (c != nullptr) {
      const Shape& own = context.input(2).shape;
      column_step = own.rank() >= 1 && own.back() != 1 ? 1 : 0;
      row_step = own.rank() == 2 && own[0] != 1 ? own[1] : 0;
    }
    context.threads().parallel_for(shape.m, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t j = 0; j < shape.n; ++j) {
          Arithmetic<T> sum = 0;
          for (std::int64_t k = 0; k < shape.k; ++k) {
            sum += widen(a[shape.transpose_a ? k * shape.m + i : i * shape.k + k]) *
                   widen(b[shape.transpose_b ? j * shape.k + k : k * shape.n + j]);
          }
          sum *= alpha;
          if (c != nullptr) sum += beta * widen(c[i * row_step + j * column_step]);
          out[i * shape.n + j] = narrow<T>(sum);
        }
      }
    });
  });
}

constexpr TypeSet byte_types{ElementType::i8, ElementType::u8};

/// Zero points of input 2 go with rows of A, those of input 3 with columns of B.
void infer_matmul_integer(InferContext& context) {
  check_input_count(context, 2, 4);
  const TensorType& a = check_type(context, 0, byte_types);
  const TensorType& b = check_type(context, 1, byte_types);
  const ProductShape shape = product_shape(a.shape, b.shape);
  for (std::size_t index : {std::size_t{2}, std::size_t{3}}) {
    if (!context.has_input(index)) continue;
    check_same_type(context, index, index - 2);
    const std::int64_t count = context.input(index).shape.elements();
    if (count != 1 && count != (index == 2 ? shape.m : shape.n)) {
      fail_input(fmt::format("input {} has {} zero points, which fit neither the tensor nor its {}",
                             index, count, index == 2 ? "rows" : "columns"));
    }
  }
  context.set_output(0, ElementType::i32, shape.output);
}

void run_matmul_integer(RunContext& context) {
  const ProductShape shape = product_shape(context.input(0).shape, context.input(1).shape);
  const auto byte_at = [&](std::size_t input, std::int64_t at) -> std::int32_t {
    const ConstTensorView view = context.input(input);
    return view.type == ElementType::i8 ? view.as<std::int8_t>()[at] : view.as<std::uint8_t>()[at];
  };
  const auto zero = [&](std::size_t input, std::int64_t at) {
    if (!context.has_input(input)) return 0;
    return byte_at(input, context.input(input).elements() == 1 ? 0 : at);
  };
  auto* out = context.output(0).as<std::int32_t>();
  multiply<std::int32_t, std::int32_t>(
      context,
      [&](int which, std::int64_t at) {
        return which == 0 ? byte_at(0, at) - zero(2, at / shape.k % shape.m)
                          : byte_at(1, at) - zero(3, at % shape.n);
      },
      [&](std::int64_t at, std::int32_t sum) { out[at] = sum; });
}

}  // namespace

void register_linear_algebra(OperatorTable& table) {
  table.add({.name = "MatMul", .infer = infer_matmul, .run = run_matmul});
  table.add({.name = "Gemm", .infer = infer_gemm, .run = run_gemm});
  table.add({.name = "MatMulInteger",
             .since_version = 10,
             .infer = infer_matmul_integer,
             .run = run_matmul_integer});
}

}  // namespace plimsoll::tensor
