// Chains of row-wise nodes computed in strips of rows. Why it exists: what lies between them then
// needs a few rows at a time instead of whole images. Pure functions; may touch: graph/program.h,
// row_form.h.
//
// A group is a range of consecutive nodes. In every round each node makes the rows that the round's
// part of the results needs; no row is made twice. A value that only nodes of the group read lives
// in a ring of as many rows as are ever needed at once:
//
//   round r:   image ──conv 3×3──▶ ring of 4 rows ──conv 3×3──▶ rows 2r, 2r+1 of the result
//
// Line buffers of this kind are known from image pipelines (Ragan-Kelley et al., "Halide", 2013:
// sliding window) and from fused convolution layers (Alwani et al., "Fused-layer CNN
// accelerators", 2016).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/graph/program.h"
#include "tensor/plan/kernel_node.h"

namespace plimsoll::tensor {

/// Nodes [first, last) of a program, `rows` rows of the tallest result at a time.
struct StripGroup {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::int64_t rows = 1;
  friend bool operator==(const StripGroup&, const StripGroup&) = default;
};

/// Facts of a program that all groups share.
struct StripFacts {
  std::vector<bool> row_wise;                         ///< by node
  std::vector<std::vector<std::uint32_t>> consumers;  ///< of each node's result, by node
  std::vector<bool> kept;           ///< by node: its result is read after the stage
  std::vector<std::int32_t> maker;  ///< by value: the node that makes it; −1
};
[[nodiscard]] StripFacts strip_facts(const Program& program);

/// The rounds of one group, one after the other. Rounds are worked out as they are asked for: a
/// list of them would be larger than the rings of small images.
class StripWalk {
 public:
  /// Nothing where the range cannot be computed in strips: a node is not row-wise, batches differ,
  /// or a node needs the whole result of another.
  [[nodiscard]] static std::optional<StripWalk> of(const Program& program, const StripFacts& facts,
                                                   const StripGroup& group);

  /// Goes to the next round, or says that there is none. `program` is the one given to `of`.
  [[nodiscard]] bool next(const Program& program);
  /// Back to before the first round.
  void restart();
  /// The rows that each node makes in this round, in order; may be empty ranges.
  [[nodiscard]] const std::vector<RowRange>& ranges() const { return ranges_; }
  /// The oldest row of the node's result that is needed in this round or later.
  [[nodiscard]] std::int64_t oldest(const Program& program, std::size_t node) const;

  [[nodiscard]] const StripGroup& group() const { return group_; }
  /// Batch items, computed one after the other.
  [[nodiscard]] std::int64_t items() const { return items_; }
  /// Whether the node's whole result is kept.
  [[nodiscard]] bool whole(std::size_t node) const { return whole_[node]; }

 private:
  struct Edge {
    std::size_t node;   ///< the reader, within the group
    std::size_t input;  ///< as its input number
  };
  bool collect(const Program& program, const StripFacts& facts);
  [[nodiscard]] RowRange rows_of(const Program& program, const Edge& edge, RowRange output) const;

  StripGroup group_;
  std::int64_t items_ = 1;
  std::int64_t rounds_ = 0;
  std::int64_t round_ = 0;
  std::vector<std::int64_t> height_;
  std::vector<bool> whole_;
  std::vector<std::vector<Edge>> readers_;
  std::vector<RowRange> ranges_;
};

/// Rows of each node's result that its ring must hold; 0 where the whole result is kept.
[[nodiscard]] std::vector<std::int64_t> ring_rows(const Program& program, StripWalk walk);

}  // namespace plimsoll::tensor
