// TopK: the k best elements along an axis, best first, of equal ones the one in front first.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/scans.h"
#include "tensor/operators/selection.h"

namespace plimsoll::tensor {
namespace {

std::size_t top_k_axis(const Node& node, std::size_t rank) {
  return normalize_axis(node.integer("axis", -1), rank);
}

/// `k` is an attribute in version 1, an input from version 10.
void infer_top_k(InferContext& context) {
  const bool from_input = context.node().opset >= 10;
  check_input_count(context, from_input ? 2 : 1, from_input ? 2 : 1);
  const TensorType& type = check_type(context, 0, numeric_types);
  const std::size_t axis = top_k_axis(context.node(), type.shape.rank());
  std::int64_t k = 0;
  if (from_input) {
    check_scalar(context, 1);
    k = context.require_integers(1)[0];
  } else {
    k = context.node().integer("k");
  }
  if (k < 0 || k > type.shape[axis]) {
    fail_input(fmt::format("k is {} for a dimension of {}", k, type.shape[axis]));
  }
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  dimensions[axis] = k;
  context.set_output(0, type.element, Shape(dimensions));
  context.set_output(1, ElementType::i64, Shape(dimensions));
}

template <typename T>
struct Order {
  const T* data;
  std::int64_t stride;
  bool largest;

  /// Whether element `a` comes before element `b`. NaN counts as the largest number.
  [[nodiscard]] bool before(std::int64_t a, std::int64_t b) const {
    const auto x = load(data[a * stride]);
    const auto y = load(data[b * stride]);
    const bool x_nan = x != x;
    const bool y_nan = y != y;
    if (x_nan || y_nan) {
      if (x_nan && y_nan) return a < b;
      return x_nan == largest;
    }
    if (x == y) return a < b;
    return largest ? x > y : x < y;
  }
};

/// A binary heap of element numbers whose root is the last in order. It lives in the output of
/// indices itself, `stride` apart, so it needs no memory.
template <typename T>
class Heap {
 public:
  Heap(std::int64_t* slots, std::int64_t stride, const Order<T>& order)
      : slots_(slots), stride_(stride), order_(order) {}
  [[nodiscard]] std::int64_t& operator[](std::int64_t slot) { return slots_[slot * stride_]; }

  void sift_down(std::int64_t slot, std::int64_t size) {
    for (;;) {
      std::int64_t child = 2 * slot + 1;
      if (child >= size) return;
      if (child + 1 < size && order_.before((*this)[child], (*this)[child + 1])) ++child;
      if (!order_.before((*this)[slot], (*this)[child])) return;
      std::swap((*this)[slot], (*this)[child]);
      slot = child;
    }
  }

 private:
  std::int64_t* slots_;
  std::int64_t stride_;
  const Order<T>& order_;
};

template <typename T>
void choose(const Order<T>& order, std::int64_t length, std::int64_t k, std::int64_t* slots,
            std::int64_t stride) {
  Heap<T> heap(slots, stride, order);
  for (std::int64_t i = 0; i < k; ++i) heap[i] = i;
  for (std::int64_t i = k / 2; i-- > 0;) heap.sift_down(i, k);
  for (std::int64_t i = k; i < length; ++i) {
    if (!order.before(i, heap[0])) continue;
    heap[0] = i;
    heap.sift_down(0, k);
  }
  for (std::int64_t size = k; size-- > 1;) {
    std::swap(heap[0], heap[size]);
    heap.sift_down(0, size);
  }
}

void run_top_k(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView values = context.output(0);
  const TensorView indices = context.output(1);
  const std::size_t axis = top_k_axis(context.node(), input.shape.rank());
  const bool largest = context.node().integer("largest", 1) != 0;
  const AxisView view(input.shape, axis);
  const std::int64_t k = values.shape[axis];
  if (k == 0) return;
  dispatch(input.type, NumericTypes{}, [&]<typename T>(Tag<T>) {
    context.threads().parallel_for(
        view.outer * view.inner, std::max<std::int64_t>(1, 4096 / view.length),
        [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
          for (std::int64_t index = begin; index < end; ++index) {
            const std::int64_t outer = index / view.inner;
            const std::int64_t inner = index % view.inner;
            const Order<T> order{input.as<T>() + outer * view.length * view.inner + inner,
                                 view.inner, largest};
            const std::int64_t first = outer * k * view.inner + inner;
            std::int64_t* slots = indices.as<std::int64_t>() + first;
            choose(order, view.length, k, slots, view.inner);
            T* to = values.as<T>() + first;
            for (std::int64_t i = 0; i < k; ++i) {
              to[i * view.inner] = order.data[slots[i * view.inner] * view.inner];
            }
          }
        });
  });
}

void infer_top_k_checked(InferContext& context) {
  if (!context.has_output(0) || !context.has_output(1)) {
    fail_input("both outputs, values and indices, must be named");
  }
  infer_top_k(context);
}

}  // namespace

void register_top_k(OperatorTable& table) {
  for (int version : {1, 10, 11}) {
    table.add(
        {.name = "TopK", .since_version = version, .infer = infer_top_k_checked, .run = run_top_k});
  }
}

void register_selection(OperatorTable& table) {
  register_top_k(table);
  register_unique(table);
  register_suppression(table);
}

}  // namespace plimsoll::tensor
