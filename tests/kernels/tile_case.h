// A matrix product for tests: its operands, its packed weight, and its result by tiles and by a
// plain loop. Why it exists: several tests vary one thing about it. May touch: kernels/, half.h.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/numbers.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels::test {

struct TileCase {
  std::int64_t m = 1;
  std::int64_t k = 1;  ///< of each tap
  std::int64_t n = 1;
  std::int64_t taps = 1;
  std::int64_t row_stride = 0;     ///< of A; 0: k
  std::int64_t output_stride = 0;  ///< 0: n
  PanelType type = PanelType::f32;
  bool zero_points = false;
  bool residual = false;
  bool scale = false;
  bool shift = false;
  Epilogue epilogue{};
  bool whole_numbers = true;  ///< small ones, so that all sums are exact

  // Operands, made by prepare().
  // NOLINTBEGIN(readability-redundant-member-init): g++ warns of members that a designated
  // initialiser leaves out unless they have one.
  std::vector<float> a{};      ///< [taps][m][row_stride]
  std::vector<float> b{};      ///< [taps·k][n], as read by a kernel (without zero points)
  std::vector<float> zeros{};  ///< per column
  std::vector<float> scales{};
  std::vector<float> shifts{};
  std::vector<float> residuals{};  ///< as the output
  // NOLINTEND(readability-redundant-member-init)

  void prepare(std::uint32_t seed);
  /// The weight in the panels of a target.
  [[nodiscard]] std::vector<std::byte> pack_for(Target target) const;
  /// The output with whatever was there in the gaps between rows: −7.
  [[nodiscard]] std::vector<float> expected() const;
  /// Rows [first, last) by tiles of at most `tile_rows` rows and `panel_step` panels.
  void run(Target target, const std::vector<std::byte>& panels, std::int64_t tile_rows,
           std::int64_t panel_step, std::int64_t first, std::int64_t last,
           std::vector<float>& output) const;
  [[nodiscard]] std::vector<float> run_all(Target target) const;
  [[nodiscard]] std::vector<float> blank_output() const;
};

/// An activation by its definition, in double precision.
[[nodiscard]] double activation_of(double x, const Epilogue& epilogue);

}  // namespace plimsoll::tensor::kernels::test
