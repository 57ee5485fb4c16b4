// Gemm: alpha · A · B + beta · C, with A and B transposed on request. Semantics: ONNX Operators.md.
#include <fmt/format.h>

#include "tensor/operators/broadcast.h"
#include "tensor/operators/checks.h"
#include "tensor/operators/integer_math.h"
#include "tensor/operators/linear_algebra.h"

namespace plimsoll::tensor {
namespace {

using GemmTypes =
    decltype(FloatTypes{} + Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{});

struct GemmShape {
  ProductSize size;
  bool transpose_a = false;
  bool transpose_b = false;
};

GemmShape gemm_shape(const Node& node, const Shape& a, const Shape& b) {
  if (a.rank() != 2 || b.rank() != 2) {
    fail_input(fmt::format("inputs of shape {} and {} are not both matrices", a.to_string(),
                           b.to_string()));
  }
  GemmShape shape;
  shape.transpose_a = node.integer("transA", 0) != 0;
  shape.transpose_b = node.integer("transB", 0) != 0;
  shape.size.m = shape.transpose_a ? a[1] : a[0];
  shape.size.k = shape.transpose_a ? a[0] : a[1];
  shape.size.n = shape.transpose_b ? b[0] : b[1];
  if ((shape.transpose_b ? b[1] : b[0]) != shape.size.k) {
    fail_input(fmt::format("inputs of shape {} and {} do not fit with transA {} and transB {}",
                           a.to_string(), b.to_string(), shape.transpose_a, shape.transpose_b));
  }
  return shape;
}

/// Before opset 7 C had to have the output's shape unless attribute 'broadcast' was 1.
void infer_gemm(InferContext& context) {
  check_input_count(context, context.node().opset < 11 ? 3 : 2, 3);
  const TensorType& a = check_type(context, 0, set_of(GemmTypes{}));
  check_same_type(context, 0, 1);
  const GemmShape shape = gemm_shape(context.node(), a.shape, context.input(1).shape);
  const Shape output{shape.size.m, shape.size.n};
  if (context.has_input(2)) {
    check_same_type(context, 0, 2);
    const bool broadcasts =
        context.node().opset >= 7 || context.node().integer("broadcast", 0) != 0;
    if (!broadcasts && context.input(2).shape != output) {
      fail_input(fmt::format("input 2 of shape {} is not {}, which needs attribute 'broadcast'",
                             context.input(2).shape.to_string(), output.to_string()));
    }
    check_broadcasts_to(context.input(2).shape, output);
  }
  context.set_output(0, a.element, output);
}

/// alpha · sum + beta · C
template <typename T>
class Finish {
 public:
  explicit Finish(const RunContext& context)
      : alpha_(context.node().real("alpha", 1.0F)), beta_(context.node().real("beta", 1.0F)) {
    if (!context.has_input(2)) return;
    c_ = context.input(2).as<T>();
    const Shape shape = context.input(2).shape;
    column_step_ = shape.rank() >= 1 && shape.back() != 1 ? 1 : 0;
    row_step_ = shape.rank() == 2 && shape[0] != 1 ? shape[1] : 0;
  }
  [[nodiscard]] T operator()(std::int64_t i, std::int64_t j, ProductSum<T> sum) const {
    using Sum = ProductSum<T>;
    const T* c = c_ == nullptr ? nullptr : c_ + i * row_step_ + j * column_step_;
    if constexpr (std::is_integral_v<T>) {
      if (alpha_ == 1 && (beta_ == 1 || c == nullptr)) {
        return static_cast<T>(sum + (c == nullptr ? Sum{0} : static_cast<Sum>(*c)));
      }
      const double real = static_cast<double>(alpha_) * static_cast<double>(static_cast<T>(sum));
      const double rest = c == nullptr ? 0 : static_cast<double>(beta_) * static_cast<double>(*c);
      return truncated<T>(real + rest);
    } else {
      sum *= static_cast<Sum>(alpha_);
      if (c != nullptr) sum += static_cast<Sum>(beta_) * static_cast<Sum>(load(*c));
      return store<T>(sum);
    }
  }

 private:
  float alpha_;
  float beta_;
  const T* c_ = nullptr;
  std::int64_t row_step_ = 0;
  std::int64_t column_step_ = 0;
};

template <typename T>
void run_typed(RunContext& context) {
  using Sum = ProductSum<T>;
  const GemmShape shape =
      gemm_shape(context.node(), context.input(0).shape, context.input(1).shape);
  const auto [batches, m, k_size, n] = shape.size;
  const T* a = context.input(0).as<T>();
  const T* b = context.input(1).as<T>();
  T* y = context.output(0).as<T>();
  const Finish<T> finish(context);
  const auto put = [&, columns = n](std::int64_t, std::int64_t i, std::int64_t j, Sum sum) {
    y[i * columns + j] = finish(i, j, sum);
  };
  const auto plain = [](const T* matrix, std::int64_t step) {
    return [=](std::int64_t /*batch*/) {
      return [=](std::int64_t row, std::int64_t column) {
        return static_cast<Sum>(load(matrix[row * step + column]));
      };
    };
  };
  const auto transposed = [](const T* matrix, std::int64_t step) {
    return [=](std::int64_t /*batch*/) {
      return [=](std::int64_t row, std::int64_t column) {
        return static_cast<Sum>(load(matrix[column * step + row]));
      };
    };
  };
  const auto right = [&](const auto& left, auto depth_contiguous, std::int64_t depth,
                         std::int64_t columns) {
    constexpr ProductOrder order = depth_contiguous ? ProductOrder::depth : ProductOrder::columns;
    if (shape.transpose_b) {
      multiply<Sum, order>(context.threads(), shape.size, left, transposed(b, depth), put);
    } else {
      multiply<Sum, ProductOrder::columns>(context.threads(), shape.size, left, plain(b, columns),
                                           put);
    }
  };
  if (shape.transpose_a) {
    right(transposed(a, m), std::false_type{}, k_size, n);
  } else {
    right(plain(a, k_size), std::true_type{}, k_size, n);
  }
}

void run_gemm(RunContext& context) {
  dispatch(context.input(0).type, GemmTypes{},
           [&]<typename T>(Tag<T> /*tag*/) { run_typed<T>(context); });
}

}  // namespace

void register_gemm(OperatorTable& table) {
  table.add({.name = "Gemm", .infer = infer_gemm, .run = run_gemm});
}

}  // namespace plimsoll::tensor
