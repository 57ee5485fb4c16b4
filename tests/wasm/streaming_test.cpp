// However the bytes are cut, the outcome is the same; and a budget refused anywhere leaves nothing
// behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "wasm/binary/validate.h"
#include "wasm/module_builder.h"
#include "wasm/spec_suite.h"

namespace plimsoll::wasm::test {
namespace {

std::string outcome_in_pieces(const std::vector<std::byte>& bytes, std::size_t piece) {
  const auto budget = memory::Budget::root("test", 64 << 20);
  ValidatingListener listener(budget);
  try {
    ModuleDecoder decoder(budget, FeatureSet::wasm_3(), listener);
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
      const std::size_t size = std::min(piece, bytes.size() - begin);
      const auto fed = decoder.feed(std::span(bytes).subspan(begin, size));
      if (!fed) return fed.error().to_string();
    }
    const auto module = decoder.finish();
    if (!module) return module.error().to_string();
    return "accepted: " + std::to_string((*module)->functions.size()) + " functions";
  } catch (const Error& error) {
    return error.message();
  }
}

TEST(Streaming, EveryCutOfTheSuiteGivesTheSameOutcome) {
  const auto root = spec_folder();
  if (!root) GTEST_SKIP() << "the test suite is not converted: scripts/convert_spec.sh does it";
  int modules = 0;
  for (const SpecScript& script : spec_scripts(*root, "")) {
    for (const auto& command : script.commands) {
      if (command.value("module_type", "") != "binary") continue;
      const auto bytes = read_bytes(script.folder / std::string(command.at("filename")));
      const std::string whole = outcome_in_pieces(bytes, bytes.size() + 1);
      for (const std::size_t piece : {1, 7}) {
        const std::string cut = outcome_in_pieces(bytes, piece);
        // Which end is met first may differ; where it is accepted or not may not.
        EXPECT_EQ(cut.starts_with("accepted"), whole.starts_with("accepted"))
            << script.name << ": " << whole << " / " << cut;
        EXPECT_TRUE(!whole.starts_with("accepted") || cut == whole) << cut;
      }
      ++modules;
    }
  }
  EXPECT_GT(modules, 5000);
}

TEST(Streaming, DataAndCustomSectionsPassThrough) {
  struct Recorder : ValidatingListener {
    using ValidatingListener::ValidatingListener;
    void on_data(const Module& module, std::span<const std::byte> piece) override {
      sizes.resize(module.data.size());
      sizes.back() += piece.size();
      most = std::max(most, piece.size());
    }
    std::vector<std::size_t> sizes;
    std::size_t most = 0;
  };
  Bytes data{2, 0, 0x41, 0, 0x0B};
  data.u32(3'000'000).repeat(3'000'000, 7).add({1, 2, 8, 9});
  const auto bytes = ModuleBuilder().section(5, {1, 0, 64}).section(11, data).get();
  const auto budget = memory::Budget::root("test", 64 << 10);
  Recorder recorder(budget);
  ModuleDecoder decoder(budget, FeatureSet::wasm_3(), recorder);
  for (std::size_t begin = 0; begin < bytes.size(); begin += 1000) {
    const std::size_t size = std::min<std::size_t>(1000, bytes.size() - begin);
    ASSERT_TRUE(decoder.feed(std::span(bytes).subspan(begin, size)));
  }
  const auto module = decoder.finish();
  ASSERT_TRUE(module);
  EXPECT_THAT(recorder.sizes, ::testing::ElementsAre(3'000'000, 2));
  EXPECT_LE(recorder.most, 1000U);
  EXPECT_EQ((*module)->data[0].bytes.size, 3'000'000U);
  EXPECT_LT(budget->peak_used(), 8192U);
}

TEST(Streaming, EveryRefusedClaimIsAValueAndLosesNothing) {
  Bytes body{0, 0x02, 0x40, 0x41, 1, 0x0D, 0, 0x0B, 0x0B};
  const auto bytes = ModuleBuilder().with_body(body).section(0, Bytes().name("name")).get();
  int refused = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    const auto budget = memory::Budget::root("test", 64 << 20);
    budget->refuse_nth_reservation(nth);
    const auto module = validate_module(budget, FeatureSet::wasm_3(), bytes);
    if (module) break;
    ++refused;
    EXPECT_EQ(budget->used(), 0U);
  }
  EXPECT_GE(refused, 10);
}

TEST(Streaming, AfterItsEndADecoderTakesNoMore) {
  const auto budget = memory::Budget::root("test", 64 << 20);
  DecodeListener nobody;
  ModuleDecoder decoder(budget, FeatureSet::wasm_3(), nobody);
  const Bytes garbage{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THROW(std::ignore = decoder.feed(garbage.get()), Error);
  EXPECT_THROW(std::ignore = decoder.feed(garbage.get()), Error);
  EXPECT_THROW(std::ignore = decoder.finish(), Error);
}

}  // namespace
}  // namespace plimsoll::wasm::test
