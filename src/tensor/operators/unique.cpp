// Unique: the distinct elements of a tensor, or its distinct slices along an axis.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/scans.h"
#include "tensor/operators/selection.h"

namespace plimsoll::tensor {
namespace {

struct Items {
  AxisView view;
  bool flat;
  std::size_t axis = 0;
  bool sorted;

  Items(const Node& node, const Shape& shape)
      : view(Shape{shape.elements()}, 0),
        flat(node.attribute("axis") == nullptr),
        sorted(node.integer("sorted", 1) != 0) {
    if (flat) return;
    axis = normalize_axis(node.integer("axis"), shape.rank());
    view = AxisView(shape, axis);
  }
};

/// Items in groups of equal ones.
struct Groups {
  std::vector<std::int64_t> first;    ///< for each group the first item
  std::vector<std::int64_t> count;    ///< and how many there are
  std::vector<std::int64_t> inverse;  ///< for each item its group
};

/// Three-way comparison of two items, element by element in row-major order.
template <typename T>
int compare(const T* data, const AxisView& view, std::int64_t a, std::int64_t b) {
  for (std::int64_t outer = 0; outer < view.outer; ++outer) {
    const T* base = data + outer * view.length * view.inner;
    for (std::int64_t inner = 0; inner < view.inner; ++inner) {
      const auto x = load(base[a * view.inner + inner]);
      const auto y = load(base[b * view.inner + inner]);
      if (x < y) return -1;
      if (y < x) return 1;
      // NaN stands behind every number and equals itself, so that the order is one.
      if (x == x && y != y) return -1;
      if (x != x && y == y) return 1;
    }
  }
  return 0;
}

template <typename T>
Groups group(const T* data, const Items& items) {
  const auto count = static_cast<std::size_t>(items.view.length);
  std::vector<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
    const int sign = compare(data, items.view, a, b);
    return sign != 0 ? sign < 0 : a < b;
  });
  Groups groups;
  groups.inverse.resize(count);
  for (std::size_t place = 0; place < count; ++place) {
    const std::int64_t item = order[place];
    if (place == 0 || compare(data, items.view, order[place - 1], item) != 0) {
      groups.first.push_back(item);
      groups.count.push_back(0);
    }
    ++groups.count.back();
    groups.inverse[static_cast<std::size_t>(item)] =
        static_cast<std::int64_t>(groups.first.size()) - 1;
  }
  if (items.sorted) return groups;
  // By first appearance instead.
  std::vector<std::size_t> by_first(groups.first.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::ranges::sort(by_first, {}, [&](std::size_t index) { return groups.first[index]; });
  Groups result;
  std::vector<std::int64_t> renamed(by_first.size());
  for (std::size_t place = 0; place < by_first.size(); ++place) {
    result.first.push_back(groups.first[by_first[place]]);
    result.count.push_back(groups.count[by_first[place]]);
    renamed[by_first[place]] = static_cast<std::int64_t>(place);
  }
  for (std::int64_t old : groups.inverse) {
    result.inverse.push_back(renamed[static_cast<std::size_t>(old)]);
  }
  return result;
}

Groups groups_of(const ConstTensorView& input, const Items& items) {
  Groups groups;
  dispatch(input.type, NumericTypes{},
           [&]<typename T>(Tag<T>) { groups = group(input.as<T>(), items); });
  return groups;
}

/// Booleans are ordered like bytes.
ConstTensorView as_numbers(ConstTensorView view) {
  if (view.type == ElementType::boolean) view.type = ElementType::u8;
  return view;
}

void infer_unique(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, all_types);
  const Items items(context.node(), type.shape);
  const Groups groups = groups_of(as_numbers(context.require_value(0)), items);
  const auto distinct = static_cast<std::int64_t>(groups.first.size());
  std::vector<std::int64_t> dimensions{distinct};
  if (!items.flat) {
    dimensions = to_vector(type.shape);
    dimensions[items.axis] = distinct;
  }
  context.set_output(0, type.element, Shape(dimensions));
  context.set_output(1, ElementType::i64, Shape{distinct});
  context.set_output(2, ElementType::i64, Shape{items.view.length});
  context.set_output(3, ElementType::i64, Shape{distinct});
}

void run_unique(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const Items items(context.node(), input.shape);
  const Groups groups = groups_of(as_numbers(input), items);
  if (context.has_output(0)) {
    const std::size_t row = static_cast<std::size_t>(items.view.inner) * element_size(input.type);
    std::byte* to = context.output(0).data;
    for (std::int64_t outer = 0; outer < items.view.outer; ++outer) {
      for (std::int64_t item : groups.first) {
        std::memcpy(
            to, input.data + static_cast<std::size_t>(outer * items.view.length + item) * row, row);
        to += row;
      }
    }
  }
  const auto copy = [&](std::size_t index, const std::vector<std::int64_t>& values) {
    if (context.has_output(index)) {
      std::ranges::copy(values, context.output(index).as<std::int64_t>());
    }
  };
  copy(1, groups.first);
  copy(2, groups.inverse);
  copy(3, groups.count);
}

}  // namespace

void register_unique(OperatorTable& table) {
  table.add({.name = "Unique", .since_version = 11, .infer = infer_unique, .run = run_unique});
}

}  // namespace plimsoll::tensor
