// A node that the planner made for a kernel: one or more graph nodes fused, with packed weights or
// a layout of its own. Why it exists: the runner treats all of them alike, and the strip planner
// asks each how its rows depend on its inputs' rows. May touch: graph/program.h, encode/encoding.h,
// kernels/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/encode/encoding.h"
#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Rows [begin, end) of a channels-last image.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// An operand at run time. Channels-last images are dense unless `ring_rows` says that only the
/// last rows are kept: row y of the one batch item is then at y mod ring_rows.
struct KernelOperand {
  TensorType type;
  std::byte* data = nullptr;  ///< inputs are read only; null where omitted
  std::int64_t ring_rows = 0;
};

struct KernelContext {
  std::span<const KernelOperand> inputs;
  std::span<const KernelOperand> outputs;
  std::span<std::byte> scratch;  ///< 64-byte aligned, as many as scratch_bytes(threads) asked for
  kernels::ThreadPool& threads;
};

struct KernelNode {
  std::string name;  ///< what it computes: "Conv+clip"

  virtual ~KernelNode() = default;
  /// How a weight input must be encoded. Only asked for inputs whose value is a weight.
  [[nodiscard]] virtual Encoding encoding(std::size_t input, const WeightView& view) const = 0;
  [[nodiscard]] virtual std::uint64_t scratch_bytes(int threads) const = 0;
  /// The input that output 0 may overwrite, element by element; −1: none.
  [[nodiscard]] virtual int in_place_input() const { return -1; }
  /// Computes everything.
  virtual void run(const KernelContext& context) const = 0;

  /// Columns of the result that can be computed from so many bytes of encoded weight, one column
  /// panel at least; 0: the weight is only taken whole. The weight is then input 1, a view [K, N].
  [[nodiscard]] virtual std::int64_t columns_in(std::uint64_t /*bytes*/) const { return 0; }
  /// Computes `count` columns from `first` on, a multiple of a panel's. Input 1 holds only those.
  virtual void run_columns(const KernelContext& /*context*/, std::int64_t /*first*/,
                           std::int64_t /*count*/) const {}

  // Row-wise kernels (channels-last images) also do:
  [[nodiscard]] virtual bool row_wise() const { return false; }
  /// The rows of an image input that output rows need, clipped to the input; nothing for inputs
  /// that are needed whole (weights, vectors).
  [[nodiscard]] virtual std::optional<RowRange> input_rows(std::size_t /*input*/,
                                                           RowRange /*output*/) const {
    return std::nullopt;
  }
  virtual void run_rows(const KernelContext& /*context*/, RowRange /*output*/) const {}
};

/// The plain encoding: dense, row-major, as the graph sees the value.
[[nodiscard]] Encoding plain_encoding(const TensorType& type);

}  // namespace plimsoll::tensor
