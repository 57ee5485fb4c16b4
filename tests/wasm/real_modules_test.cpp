// Engines and programs as they are published. Each that has been fetched is validated whole, under
// a budget far below its size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "wasm/binary/mapped_file.h"
#include "wasm/binary/validate.h"

namespace plimsoll::wasm::test {
namespace {

TEST(RealModules, AreValidatedInAFewMebibytes) {
  const char* named = std::getenv("PLIMSOLL_MODELS");
  const std::filesystem::path root =
      named != nullptr ? named : std::filesystem::path(PLIMSOLL_SOURCE_DIR) / ".cache" / "models";
  int validated = 0;
  if (std::filesystem::exists(root)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".wasm") continue;
      SCOPED_TRACE(entry.path());
      const auto budget = memory::Budget::root("test", 16 << 20);
      try {
        auto file = MappedFile::open(*budget, entry.path());
        ASSERT_TRUE(file);
        const auto module = validate_module(budget, FeatureSet::wasm_3(), *file);
        ASSERT_TRUE(module) << module.error().to_string();
        std::cout << entry.path().filename().string() << ": " << (*module)->functions.size()
                  << " functions, ledger peak " << budget->peak_used() << " bytes\n";
        ++validated;
      } catch (const Error& error) {
        // What a module uses and is not implemented must be said by name.
        EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.message();
        EXPECT_THAT(error.message(), ::testing::HasSubstr("legacy exception handling"));
      }
    }
  }
  if (validated == 0) {
    GTEST_SKIP() << "no module is fetched: scripts/fetch_models.py --only wasm does it";
  }
}

}  // namespace
}  // namespace plimsoll::wasm::test
