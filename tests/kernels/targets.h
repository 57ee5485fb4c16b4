// The targets that tests run on. Why it exists: a test runs on each that this CPU supports, and
// those that it lacks show as skipped. May touch: kernels/target.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tensor/kernels/target.h"

namespace plimsoll::tensor::kernels::test {

class TargetTest : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (!target_supported(GetParam())) {
      GTEST_SKIP() << "this CPU does not support target " << target_name(GetParam());
    }
  }
};

inline const auto all_targets =
    testing::Values(Target::generic, Target::avx2, Target::avx512, Target::avx512_on_256);

inline std::string target_test_name(const testing::TestParamInfo<Target>& info) {
  std::string name(target_name(info.param));
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace plimsoll::tensor::kernels::test
