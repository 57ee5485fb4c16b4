#include "tensor/plan/image_node.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "tensor/kernels/table.h"
#include "tensor/operators/resizing.h"
#include "tensor/operators/spatial.h"

namespace plimsoll::tensor {
namespace {

struct ImageNode : KernelNode {
  [[nodiscard]] Encoding encoding(std::size_t, const WeightView& view) const override {
    return plain_encoding(view.type);
  }
  [[nodiscard]] std::uint64_t scratch_bytes(int) const override { return 0; }
};

const float* pixel(const KernelOperand& image, std::int64_t n, std::int64_t y, std::int64_t x) {
  const Shape& shape = image.type.shape;
  const std::int64_t rows = image.ring_rows == 0 ? shape[1] : image.ring_rows;
  const std::int64_t at = image.ring_rows == 0 ? y : y % image.ring_rows;
  return reinterpret_cast<const float*>(image.data) + ((n * rows + at) * shape[2] + x) * shape[3];
}
float* pixel_out(const KernelOperand& image, std::int64_t n, std::int64_t y, std::int64_t x) {
  return const_cast<float*>(pixel(image, n, y, x));  // NOLINT: an output's memory is writable
}

/// Calls body(n, y) for output rows `range` of every batch item, in parallel.
template <typename F>
void for_each_row(const KernelContext& context, RowRange range, const F& body) {
  const std::int64_t height = range.end - range.begin;
  context.threads.parallel_for(context.outputs[0].type.shape[0] * height, 1,
                               [&](std::int64_t begin, std::int64_t end, int) {
                                 for (std::int64_t line = begin; line < end; ++line) {
                                   body(line / height, range.begin + line % height);
                                 }
                               });
}

/// A kernel whose output rows need a window of input rows.
struct RowWiseNode : ImageNode {
  kernels::Target target = kernels::Target::generic;

  void run(const KernelContext& context) const override {
    run_rows(context, {0, context.outputs[0].type.shape[1]});
  }
  [[nodiscard]] bool row_wise() const override { return true; }
};

/// Pixels to be combined into one, and their weights, a bounded number at a time.
class PixelList {
 public:
  PixelList(const kernels::KernelTable& table, std::int64_t channels, bool largest)
      : table_(table), channels_(channels), largest_(largest) {}

  /// Begins another output pixel.
  void start(float* output) {
    output_ = output;
    count_ = 0;
  }
  void add(const float* pixel, float weight) {
    if (count_ == capacity) {
      combine();
      rows_[0] = output_;
      weights_[0] = 1;
      count_ = 1;
    }
    rows_[count_] = pixel;
    weights_[count_++] = weight;
  }
  /// Writes the pixel; `empty` where nothing was added.
  void finish(float empty) {
    if (count_ == 0) {
      std::fill_n(output_, channels_, empty);
    } else {
      combine();
    }
  }

 private:
  static constexpr std::size_t capacity = 64;
  void combine() {
    const auto count = static_cast<std::int64_t>(count_);
    if (largest_) {
      table_.largest_rows(rows_, count, channels_, output_);
    } else if (count == 1 && weights_[0] == 1) {
      std::copy_n(rows_[0], channels_, output_);
    } else {
      table_.weighted_rows(rows_, weights_, count, channels_, output_);
    }
  }

  const kernels::KernelTable& table_;
  std::int64_t channels_;
  bool largest_;
  float* output_ = nullptr;
  std::size_t count_ = 0;
  const float* rows_[capacity] = {};
  float weights_[capacity] = {};
};

struct PoolNode : RowWiseNode {
  SpatialWindow window;
  bool average = false;
  bool include_padding = false;

  [[nodiscard]] std::optional<RowRange> input_rows(std::size_t, RowRange output) const override {
    const std::int64_t first = output.begin * window.strides[0] - window.pads_begin[0];
    const std::int64_t last = (output.end - 1) * window.strides[0] - window.pads_begin[0] +
                              (window.kernel[0] - 1) * window.dilations[0] + 1;
    return RowRange{std::clamp<std::int64_t>(first, 0, window.input[0]),
                    std::clamp<std::int64_t>(last, 0, window.input[0])};
  }

  void run_rows(const KernelContext& context, RowRange range) const override {
    const KernelOperand& input = context.inputs[0];
    const KernelOperand& output = context.outputs[0];
    for_each_row(context, range, [&](std::int64_t n, std::int64_t y) {
      PixelList list(kernels::kernel_table(target), output.type.shape[3], !average);
      const TapRange rows = taps(0, y);
      for (std::int64_t x = 0; x < output.type.shape[2]; ++x) {
        const TapRange columns = taps(1, x);
        const std::int64_t count = include_padding ? window.taps() : rows.count * columns.count;
        const float weight = count == 0 ? 0.0F : 1.0F / static_cast<float>(count);
        list.start(pixel_out(output, n, y, x));
        for (std::int64_t ky = 0; ky < rows.count; ++ky) {
          for (std::int64_t kx = 0; kx < columns.count; ++kx) {
            list.add(pixel(input, n, rows.first + ky * window.dilations[0],
                           columns.first + kx * window.dilations[1]),
                     weight);
          }
        }
        list.finish(average ? 0.0F : -std::numeric_limits<float>::infinity());
      }
    });
  }

 private:
  /// Positions first, first + dilation, … of one axis that lie inside the input.
  struct TapRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  [[nodiscard]] TapRange taps(std::size_t axis, std::int64_t output) const {
    const std::int64_t dilation = window.dilations[axis];
    const std::int64_t start = output * window.strides[axis] - window.pads_begin[axis];
    const std::int64_t skipped = start < 0 ? (dilation - 1 - start) / dilation : 0;
    TapRange range{start + skipped * dilation, 0};
    if (range.first < window.input[axis]) {
      const std::int64_t inside = (window.input[axis] - 1 - range.first) / dilation + 1;
      range.count = std::clamp<std::int64_t>(window.kernel[axis] - skipped, 0, inside);
    }
    return range;
  }
};

/// Sums of a fixed number of pixels each, then the sum of those: results do not depend on the
/// threads, and rounding errors stay small however large the image.
struct GlobalAverageNode : ImageNode {
  kernels::Target target = kernels::Target::generic;
  std::int64_t parts = 0;     ///< of one image
  std::int64_t channels = 0;  ///< of all parts: [batch][parts][channels] floats of scratch
  std::int64_t batch = 0;

  [[nodiscard]] std::uint64_t scratch_bytes(int) const override {
    return static_cast<std::uint64_t>(batch * parts * channels) * sizeof(float);
  }

  void run(const KernelContext& context) const override {
    const auto add_rows = kernels::kernel_table(target).add_rows;
    const KernelOperand& input = context.inputs[0];
    const std::int64_t pixels = input.type.shape[1] * input.type.shape[2];
    const std::int64_t share = (pixels + parts - 1) / parts;
    auto* sums = reinterpret_cast<float*>(context.scratch.data());
    context.threads.parallel_for(batch * parts, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t first = part % parts * share;
        const std::int64_t count = std::min(share, pixels - first);
        float* own = sums + part * channels;
        std::fill_n(own, channels, 0.0F);
        if (count <= 0) continue;
        add_rows(pixel(input, part / parts, 0, 0) + first * channels, channels, count, channels,
                 own);
      }
    });
    for (std::int64_t n = 0; n < batch; ++n) {
      float* to = pixel_out(context.outputs[0], n, 0, 0);
      std::fill_n(to, channels, 0.0F);
      add_rows(sums + n * parts * channels, channels, parts, channels, to);
      for (std::int64_t c = 0; c < channels; ++c) to[c] /= static_cast<float>(pixels);
    }
  }
};

struct ResizeNode : RowWiseNode {
  std::vector<ResizeTaps> rows;
  std::vector<ResizeTaps> columns;

  [[nodiscard]] std::optional<RowRange> input_rows(std::size_t, RowRange output) const override {
    RowRange needed{INT64_MAX, 0};
    for (std::int64_t y = output.begin; y < output.end; ++y) {
      const ResizeTaps& row = rows[static_cast<std::size_t>(y)];
      needed.begin = std::min(needed.begin, row.first);
      needed.end = std::max(needed.end, row.first + static_cast<std::int64_t>(row.weights.size()));
    }
    return needed;
  }

  void run_rows(const KernelContext& context, RowRange range) const override {
    const KernelOperand& input = context.inputs[0];
    const KernelOperand& output = context.outputs[0];
    for_each_row(context, range, [&](std::int64_t n, std::int64_t y) {
      PixelList list(kernels::kernel_table(target), output.type.shape[3], false);
      const ResizeTaps& row = rows[static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < output.type.shape[2]; ++x) {
        const ResizeTaps& column = columns[static_cast<std::size_t>(x)];
        list.start(pixel_out(output, n, y, x));
        for (std::size_t r = 0; r < row.weights.size(); ++r) {
          for (std::size_t c = 0; c < column.weights.size(); ++c) {
            list.add(pixel(input, n, row.first + static_cast<std::int64_t>(r),
                           column.first + static_cast<std::int64_t>(c)),
                     row.weights[r] * column.weights[c]);
          }
        }
        list.finish(0.0F);
      }
    });
  }
};

}  // namespace

std::shared_ptr<KernelNode> make_image_node(Program& program, const ProgramNode& node,
                                            kernels::Target target) {
  const Node& definition = *node.definition;
  const TensorType& input = program.values[node.inputs[0]].type;
  if (input.element != ElementType::f32 || input.shape.rank() != 4 || input.shape.elements() == 0) {
    return nullptr;
  }
  const std::string& op = definition.op_type;
  if (op == "MaxPool" || op == "AveragePool") {
    auto kernel = std::make_shared<PoolNode>();
    kernel->target = target;
    kernel->average = op == "AveragePool";
    kernel->include_padding = definition.integer("count_include_pad", 0) != 0;
    const bool ceil_mode = definition.integer("ceil_mode", 0) != 0;
    if (kernel->include_padding && ceil_mode) return nullptr;
    const std::vector<std::int64_t> size = definition.integers("kernel_shape");
    kernel->window = spatial_window(definition, input.shape, size, ceil_mode);
    kernel->name = op;
    return kernel;
  }
  if (op == "GlobalAveragePool") {
    // Parts of some 64 pixels, and no more than 64 of them.
    constexpr std::int64_t least_pixels = 64;
    constexpr std::int64_t most_parts = 64;
    auto kernel = std::make_shared<GlobalAverageNode>();
    kernel->target = target;
    kernel->batch = input.shape[0];
    kernel->channels = input.shape[1];
    kernel->parts =
        std::clamp<std::int64_t>(input.shape[2] * input.shape[3] / least_pixels, 1, most_parts);
    kernel->name = op;
    return kernel;
  }
  if (op == "Resize" || op == "Upsample") {
    auto taps = resize_taps(program, node);
    if (!taps) return nullptr;
    auto kernel = std::make_shared<ResizeNode>();
    kernel->target = target;
    kernel->rows = std::move((*taps)[2]);
    kernel->columns = std::move((*taps)[3]);
    kernel->name = op;
    return kernel;
  }
  return nullptr;
}

}  // namespace plimsoll::tensor
