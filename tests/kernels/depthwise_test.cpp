#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/numbers.h"
#include "kernels/targets.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels::test {
namespace {

struct DepthwiseCase {
  std::int64_t width = 8;
  std::int64_t channels = 1;
  std::int64_t kernel_height = 3;
  std::int64_t kernel_width = 3;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 1;
  std::int64_t gap = 0;  ///< floats between pixels
};

class Depthwise : public TargetTest {
 protected:
  static void check(const DepthwiseCase& problem) {
    const std::int64_t reach = (problem.kernel_width - 1) * problem.dilation + 1;
    const std::int64_t room = problem.width + 2 * problem.pad - reach;
    if (room < 0) return;
    const std::int64_t out_width = room / problem.stride + 1;
    const std::int64_t pitch = problem.channels + problem.gap;
    Numbers numbers(static_cast<std::uint32_t>(problem.width * 1000 + problem.channels));
    const std::vector<float> image = numbers.wholes(problem.kernel_height * problem.width * pitch);
    const std::vector<float> weights =
        numbers.wholes(problem.kernel_height * problem.kernel_width * problem.channels);
    const std::vector<float> shift = numbers.wholes(problem.channels);
    const std::vector<float> residual = numbers.wholes(out_width * pitch);
    std::vector<float> output(static_cast<std::size_t>(out_width * pitch), -7.0F);
    std::vector<float> expected = output;
    std::vector<const float*> rows;
    for (std::int64_t ky = 0; ky < problem.kernel_height; ++ky) {
      // The first row is padding where there are several.
      rows.push_back(ky == 0 && problem.kernel_height > 1
                         ? nullptr
                         : image.data() + ky * problem.width * pitch);
    }
    for (std::int64_t x = 0; x < out_width; ++x) {
      for (std::int64_t c = 0; c < problem.channels; ++c) {
        float sum =
            shift[static_cast<std::size_t>(c)] + residual[static_cast<std::size_t>(x * pitch + c)];
        for (std::int64_t ky = 0; ky < problem.kernel_height; ++ky) {
          const float* row = rows[static_cast<std::size_t>(ky)];
          for (std::int64_t kx = 0; kx < problem.kernel_width; ++kx) {
            const std::int64_t at = x * problem.stride - problem.pad + kx * problem.dilation;
            if (row == nullptr || at < 0 || at >= problem.width) continue;
            sum +=
                row[at * pitch + c] * weights[static_cast<std::size_t>(
                                          (ky * problem.kernel_width + kx) * problem.channels + c)];
          }
        }
        expected[static_cast<std::size_t>(x * pitch + c)] = std::max(sum, 0.0F);
      }
    }
    DepthwiseTask task;
    task.rows = rows.data();
    task.input_width = problem.width;
    task.input_stride = pitch;
    task.kernel_height = problem.kernel_height;
    task.kernel_width = problem.kernel_width;
    task.stride = problem.stride;
    task.dilation = problem.dilation;
    task.pad = problem.pad;
    task.weights = weights.data();
    task.channels = problem.channels;
    task.output = output.data();
    task.output_stride = pitch;
    task.width = out_width;
    task.residual = residual.data();
    task.residual_stride = pitch;
    task.epilogue.shift = shift.data();
    task.epilogue.activation = Activation::clip;
    task.epilogue.high = 1e30F;
    kernel_table(GetParam()).depthwise_row(task);
    EXPECT_EQ(std::memcmp(output.data(), expected.data(), output.size() * sizeof(float)), 0)
        << problem.width << " wide, " << problem.channels << " channels, kernel "
        << problem.kernel_height << "x" << problem.kernel_width << ", stride " << problem.stride
        << ", dilation " << problem.dilation << ", pad " << problem.pad;
  }
};

TEST_P(Depthwise, EqualsTheDefinition) {
  for (std::int64_t kernel : {1, 2, 3, 5, 7}) {
    for (std::int64_t stride : {1, 2, 3}) {
      for (std::int64_t dilation : {1, 2}) {
        for (std::int64_t pad : {0, 1, 3}) {
          for (std::int64_t width : {1, 2, 7, 20}) {
            for (std::int64_t channels : {1, 3, 16, 21, 40}) {
              check({width, channels, kernel, kernel, stride, dilation, pad, channels % 2 * 5});
            }
          }
        }
      }
    }
  }
}

TEST_P(Depthwise, TakesKernelsOfOneRowAndOneColumn) {
  check({33, 24, 1, 9, 1, 1, 4, 0});
  check({33, 24, 9, 1, 2, 1, 0, 0});
  check({5, 24, 3, 3, 1, 4, 4, 0});  // wider than the row
}

INSTANTIATE_TEST_SUITE_P(Targets, Depthwise, all_targets, target_test_name);

}  // namespace
}  // namespace plimsoll::tensor::kernels::test
