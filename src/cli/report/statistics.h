// What an output's numbers look like. Why it exists: a report shows at a glance whether a result is
// plausible. May touch: the public API.
#pragma once

#include <cstdint>
#include <vector>

#include "plimsoll/tensor_view.h"

namespace plimsoll::cli {

struct Statistics {
  double minimum = 0;  ///< over all elements that are numbers; 0 where there are none
  double maximum = 0;
  double mean = 0;
  std::int64_t not_numbers = 0;  ///< NaNs
  std::vector<double> first;     ///< all elements where there are few, else none
};

/// Reads every element once.
[[nodiscard]] Statistics make_statistics(const ConstTensorView& tensor);

}  // namespace plimsoll::cli
