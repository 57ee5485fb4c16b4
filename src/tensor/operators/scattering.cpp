// Scatter, ScatterElements, ScatterND and TensorScatter: the data with some elements replaced or
// reduced. Updates are applied in order on one thread, since indices may repeat.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/index_view.h"
#include "tensor/operators/indexing.h"
#include "tensor/operators/integer_math.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

enum class Reduction : std::uint8_t { none, add, mul, max, min };

/// The attribute came with version 16; `max` and `min` with version 18.
Reduction reduction_of(const Node& node) {
  const std::string name = node.opset >= 16 ? node.text("reduction", "none") : "none";
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::mul;
  if (name == "max" && node.opset >= 18) return Reduction::max;
  if (name == "min" && node.opset >= 18) return Reduction::min;
  fail_input("attribute 'reduction' is '" + name + "'; it must be none, add, mul or, from opset " +
             "18, max or min");
}

/// Calls body(reduce) with a function of two elements of type T.
template <typename T, typename F>
void with_reduction(Reduction reduction, const F& body) {
  using C = Compute<T>;
  switch (reduction) {
    case Reduction::none:
      return body([](const T& /*old*/, const T& update) { return update; });
    case Reduction::add:
      return body([](const T& old, const T& update) {
        if constexpr (std::is_integral_v<C>) {
          return wrapping_add(old, update);
        } else {
          return store<T>(load(old) + load(update));
        }
      });
    case Reduction::mul:
      return body([](const T& old, const T& update) {
        if constexpr (std::is_integral_v<C>) {
          return wrapping_multiply(old, update);
        } else {
          return store<T>(load(old) * load(update));
        }
      });
    case Reduction::max:
      return body(
          [](const T& old, const T& update) { return load(update) > load(old) ? update : old; });
    case Reduction::min:
      return body(
          [](const T& old, const T& update) { return load(update) < load(old) ? update : old; });
  }
}

/// Elements are moved by width where nothing is computed.
template <typename F>
void dispatch_reduction(ElementType type, Reduction reduction, const F& body) {
  if (reduction == Reduction::none) {
    dispatch_width(element_size(type), [&]<typename T>(Tag<T> tag) {
      with_reduction<T>(Reduction::none, [&](const auto& reduce) { body(tag, reduce); });
    });
  } else {
    dispatch(type, NumericTypes{}, [&]<typename T>(Tag<T> tag) {
      with_reduction<T>(reduction, [&](const auto& reduce) { body(tag, reduce); });
    });
  }
}

void check_reducible(const InferContext& context, Reduction reduction) {
  check_type(context, 0, reduction == Reduction::none ? all_types : numeric_types);
}

void infer_scatter_elements(InferContext& context) {
  check_input_count(context, 3, 3);
  check_reducible(context, reduction_of(context.node()));
  check_type(context, 1, index_types);
  check_same_type(context, 0, 2);
  check_rank(context, 0, 1, Shape::max_rank);
  const Shape& data = context.input(0).shape;
  const Shape& indices = context.input(1).shape;
  check_element_shapes(data, indices,
                       normalize_axis(context.node().integer("axis", 0), data.rank()));
  if (context.input(2).shape != indices) {
    fail_input(fmt::format("updates of shape {} for indices of shape {}",
                           context.input(2).shape.to_string(), indices.to_string()));
  }
  infer_same(context);
}

void run_scatter_elements(RunContext& context) {
  const ConstTensorView data = context.input(0);
  const ConstTensorView positions = context.input(1);
  const ConstTensorView updates = context.input(2);
  const TensorView output = context.output(0);
  const std::size_t axis = normalize_axis(context.node().integer("axis", 0), data.shape.rank());
  const std::int64_t size = data.shape[axis];
  const IndexView indices(positions);
  indices.check(size);
  copy_bytes(context.threads(), data.data, output.data, data.bytes());
  const ElementRows rows(positions.shape, data.shape, axis);
  dispatch_reduction(
      data.type, reduction_of(context.node()),
      [&]<typename T, typename F>(Tag<T>, const F& reduce) {
        rows.run(0, rows.rows(),
                 [&](std::int64_t first, std::int64_t count, std::int64_t base, std::int64_t step) {
                   const T* from = updates.as<T>() + first;
                   T* to = output.as<T>() + base;
                   for (std::int64_t i = 0; i < count; ++i) {
                     T& target = to[i * step + indices.at(first + i, size) * rows.axis_stride];
                     target = reduce(target, from[i]);
                   }
                 });
      });
}

void infer_scatter_nd(InferContext& context) {
  check_input_count(context, 3, 3);
  check_reducible(context, reduction_of(context.node()));
  check_type(context, 1, index_types);
  check_same_type(context, 0, 2);
  check_rank(context, 0, 1, Shape::max_rank);
  check_rank(context, 1, 1, Shape::max_rank);
  const Shape& data = context.input(0).shape;
  const Shape& indices = context.input(1).shape;
  const std::int64_t depth = indices.back();
  if (depth > static_cast<std::int64_t>(data.rank())) {
    fail_input(
        fmt::format("indices of {} coordinates for data of shape {}", depth, data.to_string()));
  }
  std::vector<std::int64_t> expected = to_vector(indices);
  expected.pop_back();
  for (auto axis = static_cast<std::size_t>(depth); axis < data.rank(); ++axis) {
    expected.push_back(data[axis]);
  }
  const Shape wanted(expected);
  if (context.input(2).shape != wanted) {
    fail_input(fmt::format("updates of shape {}, {} is needed", context.input(2).shape.to_string(),
                           wanted.to_string()));
  }
  infer_same(context);
}

void run_scatter_nd(RunContext& context) {
  const ConstTensorView data = context.input(0);
  const ConstTensorView positions = context.input(1);
  const ConstTensorView updates = context.input(2);
  const TensorView output = context.output(0);
  const std::int64_t depth = positions.shape.back();
  const IndexView indices(positions);
  for (std::int64_t position = 0; position < indices.count(); ++position) {
    IndexView::check_one(indices[position], data.shape[static_cast<std::size_t>(position % depth)]);
  }
  copy_bytes(context.threads(), data.data, output.data, data.bytes());
  const std::int64_t row = data.shape.product(static_cast<std::size_t>(depth), data.shape.rank());
  const std::int64_t count = positions.shape.product(0, positions.shape.rank() - 1);
  dispatch_reduction(data.type, reduction_of(context.node()),
                     [&]<typename T, typename F>(Tag<T>, const F& reduce) {
                       for (std::int64_t index = 0; index < count; ++index) {
                         std::int64_t target = 0;
                         for (std::int64_t k = 0; k < depth; ++k) {
                           const std::int64_t size = data.shape[static_cast<std::size_t>(k)];
                           target = target * size + indices.at(index * depth + k, size);
                         }
                         const T* from = updates.as<T>() + index * row;
                         T* to = output.as<T>() + target * row;
                         for (std::int64_t i = 0; i < row; ++i) to[i] = reduce(to[i], from[i]);
                       }
                     });
}

// TensorScatter: writes `update` into a cache, at a position of its own for each batch.

bool is_circular(const Node& node) {
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    fail_input("attribute 'mode' must be linear or circular, not '" + mode + "'");
  }
  return mode == "circular";
}

void infer_tensor_scatter(InferContext& context) {
  check_input_count(context, 2, 3);
  const TensorType& cache = check_type(context, 0, all_types);
  check_same_type(context, 0, 1);
  check_rank(context, 0, 2, Shape::max_rank);
  static_cast<void>(is_circular(context.node()));
  const Shape& update = context.input(1).shape;
  const std::size_t axis = normalize_axis(context.node().integer("axis", -2), cache.shape.rank());
  bool fits = axis > 0 && update.rank() == cache.shape.rank();
  for (std::size_t other = 0; fits && other < update.rank(); ++other) {
    fits =
        other == axis ? update[other] <= cache.shape[other] : update[other] == cache.shape[other];
  }
  if (!fits) {
    fail_input(fmt::format("an update of shape {} for a cache of shape {} along axis {}",
                           update.to_string(), cache.shape.to_string(), axis));
  }
  if (context.has_input(2)) {
    check_type(context, 2, index_types);
    if (context.input(2).shape != Shape{cache.shape[0]}) {
      fail_input("one write index for each batch is needed");
    }
  }
  infer_same(context);
}

void run_tensor_scatter(RunContext& context) {
  const ConstTensorView cache = context.input(0);
  const ConstTensorView update = context.input(1);
  const TensorView output = context.output(0);
  const std::size_t axis = normalize_axis(context.node().integer("axis", -2), cache.shape.rank());
  const bool circular = is_circular(context.node());
  const std::int64_t size = cache.shape[axis];
  const std::int64_t added = update.shape[axis];
  std::vector<std::int64_t> starts(static_cast<std::size_t>(cache.shape[0]), 0);
  if (context.has_input(2)) starts = read_integers(context.input(2));
  for (std::int64_t start : starts) {
    if (start < 0 || start > size || (!circular && start > size - added)) {
      fail_input(
          fmt::format("write index {} for an update of {} in a cache of {}", start, added, size));
    }
  }
  copy_bytes(context.threads(), cache.data, output.data, cache.bytes());
  const std::int64_t row = cache.shape.product(axis + 1, cache.shape.rank()) *
                           static_cast<std::int64_t>(element_size(cache.type));
  const std::int64_t per_batch = cache.shape.product(1, axis);
  for (std::size_t batch = 0; batch < starts.size(); ++batch) {
    for (std::int64_t inner = 0; inner < per_batch; ++inner) {
      const std::int64_t outer = static_cast<std::int64_t>(batch) * per_batch + inner;
      for (std::int64_t step = 0; step < added; ++step) {
        const std::int64_t position = (starts[batch] + step) % size;
        std::memcpy(output.data + (outer * size + position) * row,
                    update.data + (outer * added + step) * row, static_cast<std::size_t>(row));
      }
    }
  }
}

void add_scatter(OperatorTable& table, std::string_view name, std::initializer_list<int> versions,
                 void (*infer)(InferContext&), void (*run)(RunContext&)) {
  for (int version : versions) {
    table.add(
        {.name = name, .since_version = version, .infer = infer, .run = run, .in_place_input = 0});
  }
}

}  // namespace

void register_scattering(OperatorTable& table) {
  add_scatter(table, "Scatter", {9, 11}, infer_scatter_elements, run_scatter_elements);
  add_scatter(table, "ScatterElements", {11, 13, 16, 18}, infer_scatter_elements,
              run_scatter_elements);
  add_scatter(table, "ScatterND", {11, 13, 16, 18}, infer_scatter_nd, run_scatter_nd);
  add_scatter(table, "TensorScatter", {24}, infer_tensor_scatter, run_tensor_scatter);
}

}  // namespace plimsoll::tensor
