#include "tensor/plan/activation_product_node.h"

#include <algorithm>

#include "tensor/kernels/packing.h"

namespace plimsoll::tensor {
namespace {

/// Packed columns that one thread works on: they stay in a core's second-level cache while all rows
/// go by, and bound the scratch whatever the matrices' size.
constexpr std::int64_t group_bytes = 256 * 1024;
/// The tile takes up to four panels at once.
constexpr std::int64_t panels_at_once = 4;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

/// How the columns are cut for one run. A unit of work is one group of one batch item.
struct ActivationProductNode::Groups {
  std::int64_t panels = 0;  ///< of the whole right factor
  std::int64_t group = 0;   ///< panels of one unit
  std::int64_t units = 0;
  std::uint64_t packed_bytes = 0;  ///< of one unit

  [[nodiscard]] std::int64_t per_batch() const { return (panels + group - 1) / group; }
};

std::int64_t ActivationProductNode::batches() const {
  std::int64_t count = 1;
  for (std::int64_t size : batch) count *= size;
  return count;
}

std::int64_t ActivationProductNode::offset(const MatrixBatch& matrix,
                                           std::int64_t batch_index) const {
  std::int64_t result = matrix.offset;
  for (std::size_t axis = batch.size(); axis-- > 0;) {
    result += batch_index % batch[axis] * matrix.batch_strides[axis];
    batch_index /= batch[axis];
  }
  return result;
}

ActivationProductNode::Groups ActivationProductNode::groups(int threads) const {
  const std::int64_t panel = kernels::kernel_table(target).panel;
  const std::int64_t panel_bytes =
      std::max<std::int64_t>(depth * panel * static_cast<std::int64_t>(sizeof(float)), 1);
  Groups groups;
  groups.panels = (columns + panel - 1) / panel;
  // A few units for each thread, so that none waits long for the last.
  const std::int64_t wanted = threads == 1 ? 1 : threads * 2;
  const std::int64_t share = (groups.panels * batches() + wanted - 1) / wanted;
  groups.group = std::max<std::int64_t>(std::min(group_bytes / panel_bytes, share), 1);
  groups.group = (groups.group + panels_at_once - 1) / panels_at_once * panels_at_once;
  groups.group = std::min(groups.group, groups.panels);
  groups.units = batches() * groups.per_batch();
  groups.packed_bytes = aligned(static_cast<std::uint64_t>(groups.group * panel_bytes));
  return groups;
}

Encoding ActivationProductNode::encoding(std::size_t, const WeightView& view) const {
  return plain_encoding(view.type);
}

std::uint64_t ActivationProductNode::scratch_bytes(int threads) const {
  const auto max_rows = static_cast<std::uint64_t>(kernels::kernel_table(target).max_rows);
  return static_cast<std::uint64_t>(threads) *
         (groups(threads).packed_bytes + aligned(3 * max_rows * sizeof(void*)));
}

/// One thread's scratch and what it holds.
class ActivationProductNode::Worker {
 public:
  Worker(const ActivationProductNode& node, const KernelContext& context, const Groups& groups,
         int thread)
      : node_(node),
        context_(context),
        groups_(groups),
        table_(kernels::kernel_table(node.target)) {
    const std::uint64_t own = node.scratch_bytes(context.threads.threads()) /
                              static_cast<std::uint64_t>(context.threads.threads());
    std::byte* memory = context.scratch.data() + static_cast<std::uint64_t>(thread) * own;
    packed_ = reinterpret_cast<float*>(memory);
    pointers_ = memory + groups.packed_bytes;
  }

  /// Packs the columns of a unit.
  void pack(std::int64_t unit) const {
    const std::int64_t panel = table_.panel;
    const auto* data = reinterpret_cast<const float*>(context_.inputs[1].data) +
                       node_.offset(node_.right, unit / groups_.per_batch());
    const std::int64_t first = unit % groups_.per_batch() * groups_.group * panel;
    const std::int64_t last = std::min(node_.columns, first + groups_.group * panel);
    float* to = packed_;
    for (std::int64_t column = first; column < last; column += panel) {
      const std::int64_t count = std::min(panel, last - column);
      const float* from = data + column * node_.right.column_stride;
      for (std::int64_t k = 0; k < node_.depth; ++k, from += node_.right.row_stride, to += panel) {
        if (node_.right.column_stride == 1) {
          std::copy_n(from, count, to);
        } else {
          for (std::int64_t c = 0; c < count; ++c) to[c] = from[c * node_.right.column_stride];
        }
        std::fill_n(to + count, panel - count, 0.0F);
      }
    }
  }

  /// Multiplies rows [begin, end) with the columns of a unit, packed at `panels`.
  void multiply(std::int64_t unit, std::int64_t begin, std::int64_t end,
                const float* panels) const {
    const std::int64_t item = unit / groups_.per_batch();
    const std::int64_t first_panel = unit % groups_.per_batch() * groups_.group;
    const std::int64_t first_column = first_panel * table_.panel;
    auto* const factors = reinterpret_cast<const float**>(pointers_);
    auto* const residuals = factors + table_.max_rows;
    auto* const outputs = reinterpret_cast<float**>(
        pointers_ + 2 * static_cast<std::size_t>(table_.max_rows) * sizeof(void*));
    const bool has_residual = node_.epilogue.has_residual;
    const float* left = matrix(0, node_.left, item);
    const float* residual = has_residual ? matrix(2, node_.residual, item) : nullptr;
    float* output =
        reinterpret_cast<float*>(context_.outputs[0].data) + node_.offset(node_.output, item);
    kernels::TileTask task;
    task.rows = factors;
    task.depth = node_.depth;
    // The tile counts panels from the first of the memory it is given, which is the group's.
    task.panels = panels;
    task.columns = node_.columns - first_column;
    task.last_panel = std::min(groups_.group, groups_.panels - first_panel);
    task.outputs = outputs;
    task.residuals = has_residual ? residuals : nullptr;
    task.epilogue = node_.epilogue.view();
    if (task.epilogue.scale != nullptr) task.epilogue.scale += first_column;
    if (task.epilogue.shift != nullptr) task.epilogue.shift += first_column;
    for (std::int64_t row = begin; row < end; row += table_.max_rows) {
      task.count = std::min(table_.max_rows, end - row);
      for (std::int64_t r = 0; r < task.count; ++r) {
        factors[r] = left + (row + r) * node_.left.row_stride;
        outputs[r] = output + (row + r) * node_.output.row_stride + first_column;
        if (has_residual) {
          residuals[r] = residual + (row + r) * node_.residual.row_stride + first_column;
        }
      }
      table_.tile(task);
    }
  }

  [[nodiscard]] const float* packed() const { return packed_; }

 private:
  [[nodiscard]] const float* matrix(std::size_t input, const MatrixBatch& batch,
                                    std::int64_t item) const {
    return reinterpret_cast<const float*>(context_.inputs[input].data) + node_.offset(batch, item);
  }

  const ActivationProductNode& node_;
  const KernelContext& context_;
  const Groups& groups_;
  const kernels::KernelTable& table_;
  float* packed_;
  std::byte* pointers_;
};

void ActivationProductNode::run(const KernelContext& context) const {
  const Groups groups = this->groups(context.threads.threads());
  if (groups.units >= context.threads.threads()) {
    context.threads.parallel_for(groups.units, 1,
                                 [&](std::int64_t begin, std::int64_t end, int thread) {
                                   const Worker worker(*this, context, groups, thread);
                                   for (std::int64_t unit = begin; unit < end; ++unit) {
                                     worker.pack(unit);
                                     worker.multiply(unit, 0, rows, worker.packed());
                                   }
                                 });
    return;
  }
  // Few columns and few matrices: the rows are what is shared out.
  const std::int64_t max_rows = kernels::kernel_table(target).max_rows;
  const Worker packer(*this, context, groups, 0);
  for (std::int64_t unit = 0; unit < groups.units; ++unit) {
    packer.pack(unit);
    context.threads.parallel_for(
        (rows + max_rows - 1) / max_rows, 1, [&](std::int64_t begin, std::int64_t end, int thread) {
          const Worker worker(*this, context, groups, thread);
          worker.multiply(unit, begin * max_rows, std::min(rows, end * max_rows), packer.packed());
        });
  }
}

}  // namespace plimsoll::tensor
