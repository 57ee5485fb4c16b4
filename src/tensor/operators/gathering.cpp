// Gather, GatherElements and GatherND.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/index_view.h"
#include "tensor/operators/indexing.h"

namespace plimsoll::tensor {
namespace {

/// Output bytes that one thread copies at least.
constexpr std::int64_t grain_bytes = 64 * 1024;

std::int64_t grain_for(std::int64_t bytes) {
  return std::max<std::int64_t>(1, grain_bytes / std::max<std::int64_t>(1, bytes));
}

void infer_gather(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& data = check_type(context, 0, all_types);
  const TensorType& indices = check_type(context, 1, index_types);
  check_rank(context, 0, 1, Shape::max_rank);
  const std::size_t axis = normalize_axis(context.node().integer("axis", 0), data.shape.rank());
  std::vector<std::int64_t> dimensions = to_vector(data.shape);
  const auto place = dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto inserted = indices.shape.dimensions();
  dimensions.insert(place, inserted.begin(), inserted.end());
  context.set_output(0, data.element, Shape(dimensions));
}

void run_gather(RunContext& context) {
  const ConstTensorView data = context.input(0);
  const IndexView indices(context.input(1));
  std::byte* output = context.output(0).data;
  const std::size_t axis = normalize_axis(context.node().integer("axis", 0), data.shape.rank());
  const std::int64_t size = data.shape[axis];
  indices.check(size);
  const std::int64_t row = data.shape.product(axis + 1, data.shape.rank()) *
                           static_cast<std::int64_t>(element_size(data.type));
  const std::int64_t count = indices.count();
  context.threads().parallel_for(data.shape.product(0, axis) * count, grain_for(row),
                                 [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                                   for (std::int64_t index = begin; index < end; ++index) {
                                     const std::int64_t source =
                                         index / count * size + indices.at(index % count, size);
                                     std::memcpy(output + index * row, data.data + source * row,
                                                 static_cast<std::size_t>(row));
                                   }
                                 });
}

void infer_gather_elements(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& data = check_type(context, 0, all_types);
  const TensorType& indices = check_type(context, 1, index_types);
  check_rank(context, 0, 1, Shape::max_rank);
  check_element_shapes(data.shape, indices.shape,
                       normalize_axis(context.node().integer("axis", 0), data.shape.rank()));
  context.set_output(0, data.element, indices.shape);
}

void run_gather_elements(RunContext& context) {
  const ConstTensorView data = context.input(0);
  const IndexView indices(context.input(1));
  const TensorView output = context.output(0);
  const std::size_t axis = normalize_axis(context.node().integer("axis", 0), data.shape.rank());
  const std::int64_t size = data.shape[axis];
  indices.check(size);
  const ElementRows rows(output.shape, data.shape, axis);
  dispatch_width(element_size(data.type), [&]<typename T>(Tag<T>) {
    const auto row = [&](std::int64_t first, std::int64_t count, std::int64_t base,
                         std::int64_t step) {
      const T* from = data.as<T>() + base;
      T* to = output.as<T>() + first;
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = from[i * step + indices.at(first + i, size) * rows.axis_stride];
      }
    };
    const auto row_bytes = output.shape.back() * static_cast<std::int64_t>(sizeof(T));
    context.threads().parallel_for(
        rows.rows(), grain_for(row_bytes),
        [&](std::int64_t begin, std::int64_t end, int /*thread*/) { rows.run(begin, end, row); });
  });
}

/// Indices […, k] address slices of the data's dimensions from `batch` on, of which k are fixed.
struct SliceGather {
  std::size_t batch;
  std::size_t fixed;
  SliceGather(const Node& node, const Shape& data, const Shape& indices) {
    const std::int64_t given = node.opset >= 12 ? node.integer("batch_dims", 0) : 0;
    const auto least = static_cast<std::int64_t>(std::min(data.rank(), indices.rank()));
    if (given < 0 || given >= least) {
      fail_input(fmt::format("attribute 'batch_dims' is {} for tensors of rank {} and {}", given,
                             data.rank(), indices.rank()));
    }
    batch = static_cast<std::size_t>(given);
    const std::int64_t depth = indices.back();
    if (depth < 1 || depth > static_cast<std::int64_t>(data.rank() - batch)) {
      fail_input(
          fmt::format("indices of {} coordinates for data of shape {} with {} batch "
                      "dimensions",
                      depth, data.to_string(), given));
    }
    fixed = static_cast<std::size_t>(depth);
    for (std::size_t axis = 0; axis < batch; ++axis) {
      if (data[axis] != indices[axis]) {
        fail_input(
            fmt::format("batch dimension {} differs: {} and {}", axis, data[axis], indices[axis]));
      }
    }
  }
};

void infer_gather_nd(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& data = check_type(context, 0, all_types);
  const TensorType& indices = check_type(context, 1, index_types);
  check_rank(context, 0, 1, Shape::max_rank);
  check_rank(context, 1, 1, Shape::max_rank);
  const SliceGather slices(context.node(), data.shape, indices.shape);
  std::vector<std::int64_t> dimensions = to_vector(indices.shape);
  dimensions.pop_back();
  for (std::size_t axis = slices.batch + slices.fixed; axis < data.shape.rank(); ++axis) {
    dimensions.push_back(data.shape[axis]);
  }
  context.set_output(0, data.element, Shape(dimensions));
}

void run_gather_nd(RunContext& context) {
  const ConstTensorView data = context.input(0);
  const ConstTensorView positions = context.input(1);
  const IndexView indices(positions);
  std::byte* output = context.output(0).data;
  const SliceGather slices(context.node(), data.shape, positions.shape);
  const auto depth = static_cast<std::int64_t>(slices.fixed);
  for (std::int64_t position = 0; position < indices.count(); ++position) {
    const auto axis = slices.batch + static_cast<std::size_t>(position % depth);
    IndexView::check_one(indices[position], data.shape[axis]);
  }
  const std::int64_t row = data.shape.product(slices.batch + slices.fixed, data.shape.rank()) *
                           static_cast<std::int64_t>(element_size(data.type));
  const std::int64_t batches = data.shape.product(0, slices.batch);
  const std::int64_t block = data.shape.product(slices.batch, slices.batch + slices.fixed);
  const std::int64_t count = indices.count() / depth;
  if (count == 0) return;
  const std::int64_t per_batch = count / batches;
  context.threads().parallel_for(
      count, grain_for(row), [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t index = begin; index < end; ++index) {
          std::int64_t source = 0;
          for (std::int64_t k = 0; k < depth; ++k) {
            const std::int64_t size = data.shape[slices.batch + static_cast<std::size_t>(k)];
            source = source * size + indices.at(index * depth + k, size);
          }
          source += index / per_batch * block;
          std::memcpy(output + index * row, data.data + source * row,
                      static_cast<std::size_t>(row));
        }
      });
}

}  // namespace

void check_element_shapes(const Shape& data, const Shape& indices, std::size_t axis) {
  bool fits = data.rank() == indices.rank();
  for (std::size_t dimension = 0; fits && dimension < data.rank(); ++dimension) {
    fits = dimension == axis || indices[dimension] <= data[dimension];
  }
  if (!fits) {
    fail_input(fmt::format("indices of shape {} do not fit into data of shape {} along axis {}",
                           indices.to_string(), data.to_string(), axis));
  }
}

void register_gathering(OperatorTable& table) {
  for (int version : {1, 11, 13}) {
    table.add(
        {.name = "Gather", .since_version = version, .infer = infer_gather, .run = run_gather});
  }
  for (int version : {11, 13}) {
    table.add({.name = "GatherElements",
               .since_version = version,
               .infer = infer_gather_elements,
               .run = run_gather_elements});
  }
  for (int version : {11, 12, 13}) {
    table.add({.name = "GatherND",
               .since_version = version,
               .infer = infer_gather_nd,
               .run = run_gather_nd});
  }
}

}  // namespace plimsoll::tensor
