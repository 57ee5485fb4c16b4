// Broadcasting: the shapes, and loops over operands that are repeated along dimensions. Why it
// exists: every operator of two or more operands follows the same rules of the standard
// (Broadcasting.md), and the loop must run over contiguous elements whatever the shapes. May touch:
// graph/, operator.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tensor/graph/graph.h"

namespace plimsoll::tensor {

/// Multidirectional broadcasting: dimensions are aligned at the end, 1 stretches. Throws
/// Error(bad_input) where they do not match.
[[nodiscard]] Shape broadcast_shape(const Shape& a, const Shape& b);

/// Throws Error(bad_input) unless `from` can be stretched to exactly `to`.
void check_broadcasts_to(const Shape& from, const Shape& to);

/// The second operand's shape as opset 7 and later would write it. Before opset 7 operands had to
/// be equal in shape unless `broadcast` is 1; then b's dimensions stand at `axis` of a (default: at
/// the end) and a is never stretched.
[[nodiscard]] Shape second_operand_shape(const Node& node, const Shape& a, const Shape& b);

/// Loops over an output of known shape with `count` operands that broadcast to it. Adjacent
/// dimensions along which every operand is either contiguous or repeated are merged, so the
/// innermost runs are long.
class BroadcastLoop {
 public:
  static constexpr std::size_t max_operands = 4;
  using Offsets = std::array<std::int64_t, max_operands>;

  /// Each of the shapes must broadcast to `output` (check_broadcasts_to).
  BroadcastLoop(const Shape& output, std::span<const Shape> operands);

  /// Along a run an operand advances by 1 or stays: 1 or 0.
  [[nodiscard]] std::int64_t step(std::size_t operand) const {
    return strides_[operand][rank_ - 1];
  }

  /// Calls body(offset, offsets, length) for runs that cover output elements [begin, end): `offset`
  /// is that of the output, `offsets` those of the operands, in elements.
  template <typename F>
  void run(std::int64_t begin, std::int64_t end, const F& body) const {
    if (begin >= end) return;
    std::array<std::int64_t, Shape::max_rank> position{};
    Offsets offsets{};
    std::int64_t rest = begin;
    for (std::size_t axis = rank_; axis-- > 0;) {
      position[axis] = rest % sizes_[axis];
      rest /= sizes_[axis];
      for (std::size_t operand = 0; operand < count_; ++operand) {
        offsets[operand] += position[axis] * strides_[operand][axis];
      }
    }
    const std::size_t inner = rank_ - 1;
    std::int64_t offset = begin;
    for (;;) {
      std::int64_t length = sizes_[inner] - position[inner];
      if (length > end - offset) length = end - offset;
      body(offset, offsets, length);
      offset += length;
      if (offset >= end) return;
      // The run reached the end of its row: go back to the row's start, then to the next row.
      for (std::size_t operand = 0; operand < count_; ++operand) {
        offsets[operand] -= position[inner] * strides_[operand][inner];
      }
      position[inner] = 0;
      for (std::size_t axis = inner; axis-- > 0;) {
        ++position[axis];
        for (std::size_t operand = 0; operand < count_; ++operand) {
          offsets[operand] += strides_[operand][axis];
        }
        if (position[axis] < sizes_[axis]) break;
        for (std::size_t operand = 0; operand < count_; ++operand) {
          offsets[operand] -= sizes_[axis] * strides_[operand][axis];
        }
        position[axis] = 0;
      }
    }
  }

 private:
  std::size_t count_;
  std::size_t rank_ = 0;  // after merging; at least 1
  std::array<std::int64_t, Shape::max_rank> sizes_{};
  std::array<std::array<std::int64_t, Shape::max_rank>, max_operands> strides_{};
};

}  // namespace plimsoll::tensor
