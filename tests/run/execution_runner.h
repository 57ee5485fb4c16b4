// Runs one model with one f32 input under a given choice. Why it exists: tests compare choices bit
// by bit. May touch: import/, run/, plan/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensor/run/execution.h"

namespace plimsoll::tensor::test {

struct Outcome {
  std::vector<std::vector<float>> outputs;
  std::uint64_t arena_bytes = 0;
  std::uint64_t streamed_bytes = 0;
  std::size_t groups = 0;
};

/// The model's graph, read from an ONNX file's bytes.
[[nodiscard]] std::shared_ptr<const Graph> graph_of(const std::string& onnx);

/// Uniform in [-1, 1), the same each time.
[[nodiscard]] std::vector<float> random_floats(std::int64_t count);

/// Fresh execution, all outputs f32.
[[nodiscard]] Outcome run_with(const std::string& onnx, const Shape& input,
                               const PlanChoice& choice, int threads = 1);

[[nodiscard]] bool same_bits(const Outcome& a, const Outcome& b);

}  // namespace plimsoll::tensor::test
