// Modules made to hurt: each is refused with a message that says where and what was expected, and
// none makes the decoder allocate what it only promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "wasm/binary/implementation_limits.h"
#include "wasm/binary/validate.h"
#include "wasm/module_builder.h"

namespace plimsoll::wasm::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t budget_bytes = 64 << 20;

struct Outcome {
  std::string message;  ///< empty: accepted
  ErrorKind kind = ErrorKind::internal;
  bool is_refusal = false;
  std::uint64_t peak_bytes = 0;
};

Outcome outcome_of(const std::vector<std::byte>& bytes, std::uint64_t limit = budget_bytes,
                   FeatureSet features = FeatureSet::wasm_3()) {
  const auto budget = memory::Budget::root("test", limit);
  Outcome outcome;
  try {
    const auto module = validate_module(budget, features, bytes);
    if (!module) {
      outcome.is_refusal = true;
      outcome.message = module.error().to_string();
    }
  } catch (const Error& error) {
    outcome.message = error.message();
    outcome.kind = error.kind();
  }
  EXPECT_EQ(budget->used(), 0U);
  outcome.peak_bytes = budget->peak_used();
  return outcome;
}

/// Refused as bad input with this in the message, having claimed next to nothing.
void expect_refused(const ModuleBuilder& module, const std::string& message,
                    std::uint64_t most_claimed = 64 << 10) {
  const Outcome outcome = outcome_of(module.get());
  EXPECT_THAT(outcome.message, HasSubstr(message));
  EXPECT_THAT(outcome.message, HasSubstr("at byte "));
  EXPECT_EQ(outcome.kind, ErrorKind::bad_input);
  EXPECT_LE(outcome.peak_bytes, most_claimed);
}

TEST(HostileModule, CountsThatPromiseMoreThanTheSectionHolds) {
  for (const int id : {1, 2, 3, 4, 5, 6, 7, 9, 13}) {
    SCOPED_TRACE(id);
    expect_refused(ModuleBuilder().section(id, Bytes().u32(0xFFFFFFFF).add(0)), "more than the");
    expect_refused(ModuleBuilder().section(id, Bytes().u32(90'000).add(0)), "unexpected end");
  }
}

TEST(HostileModule, SectionsThatLieAboutTheirSize) {
  expect_refused(ModuleBuilder().section(1, {1, 0x60, 0, 0, 0}), "section size mismatch");
  Bytes cut{0, 'a', 's', 'm', 1, 0, 0, 0};
  cut.add(1).u32(1U << 29U).add(1);
  const Outcome outcome = outcome_of(cut.get());
  EXPECT_THAT(outcome.message, HasSubstr("unexpected end of the module inside the type section"));
  EXPECT_LE(outcome.peak_bytes, 1024U);
  cut = {0, 'a', 's', 'm', 1, 0, 0, 0};
  cut.add(1).u32(0xFFFFFFFF);
  EXPECT_THAT(outcome_of(cut.get()).message, HasSubstr("length out of bounds"));
  cut = {0, 'a', 's', 'm', 1, 0, 0, 0};
  cut.add(0).add(2).name("far longer than its section");
  EXPECT_THAT(outcome_of(cut.get()).message, HasSubstr("unexpected end of the custom section"));
}

TEST(HostileModule, LocalsByTheBillion) {
  expect_refused(ModuleBuilder().with_body(Bytes{1}.u32(4'000'000'000).add({0x7F, 0x0B})),
                 "too many locals");
  Bytes many;
  many.u32(1000);
  for (int group = 0; group < 1000; ++group) many.u32(0xFFFFFFFF).add(0x7F);
  expect_refused(ModuleBuilder().with_body(many.add(0x0B)), "too many locals");
}

TEST(HostileModule, BranchTableOfTenMillion) {
  expect_refused(ModuleBuilder().with_body(Bytes{0, 0x41, 0, 0x0E}.u32(10'000'000).add({0, 0x0B})),
                 "the number of branch targets: 10000000 is more than the 65520");
  Bytes body{0, 0x41, 0, 0x0E};
  body.u32(10'000'000).repeat(10'000'001, 0).add(0x0B);
  expect_refused(ModuleBuilder().with_body(body), "longer than the 7654321");
}

TEST(HostileModule, ManyTargetsWithManyValuesTakeNoTime) {
  // 116 branch tables of 65,000 targets to a label of 1,000 values, in code that cannot be reached.
  Bytes type{2, 0x60, 0, 0, 0x60, 0};
  type.u32(1000).repeat(1000, 0x7F);
  Bytes body{0, 0x02, 1, 0x00};
  for (int table = 0; table < 116; ++table) {
    body.add({0x41, 0, 0x0E}).u32(65'000).repeat(65'001, 0);
  }
  body.add({0x0B, 0x00, 0x0B});
  Bytes code{1};
  code.u32(body.size()).add(body);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      outcome_of(ModuleBuilder().section(1, type).section(3, {1, 0}).section(10, code).get());
  EXPECT_EQ(outcome.message, "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(HostileModule, NestingWithoutEnd) {
  expect_refused(ModuleBuilder().with_body(Bytes{0}.repeat(7'000'000, 0x02)), "unknown type 2",
                 1 << 20);
  Bytes body{0};
  for (int depth = 0; depth < 3'000'000; ++depth) body.add({0x02, 0x40});
  expect_refused(ModuleBuilder().with_body(body),
                 "more blocks inside each other than the 65536 that are accepted", 16 << 20);
  const Outcome outcome = outcome_of(ModuleBuilder().with_body(body).get(), 256 << 10);
  EXPECT_TRUE(outcome.is_refusal);
  EXPECT_THAT(outcome.message, HasSubstr("control stack of validation"));
}

TEST(HostileModule, CallsThatLeaveAThousandValuesEach) {
  Bytes type{1, 0x60, 0};
  type.u32(1000).repeat(1000, 0x7F);
  Bytes body{0};
  for (int call = 0; call < 1000; ++call) body.add({0x10, 0});
  Bytes code{1};
  code.u32(body.size()).add(body);
  expect_refused(ModuleBuilder().section(1, type).section(3, {1, 0}).section(10, code),
                 "more values on the stack than the 131072 that are accepted", 2 << 20);
  Bytes too_many{1, 0x60, 0};
  too_many.u32(1001).repeat(1001, 0x7F);
  expect_refused(ModuleBuilder().section(1, too_many), "the number of results: 1001 is more than");
}

TEST(HostileModule, IntegersOfEveryLength) {
  for (std::size_t length = 1; length <= 5; ++length) {
    SCOPED_TRACE(length);
    EXPECT_EQ(outcome_of(ModuleBuilder().section(1, Bytes().u32(0, length)).get()).message, "");
  }
  expect_refused(ModuleBuilder().section(1, Bytes().u32(0, 6)), "integer representation too long");
  expect_refused(ModuleBuilder().section(1, {0x80, 0x80, 0x80, 0x80, 0x10}), "integer too large");
  expect_refused(ModuleBuilder().with_body({0, 0x41, 0x80, 0x80, 0x80, 0x80, 0x70, 0x1A, 0x0B}),
                 "integer too large");
  EXPECT_EQ(
      outcome_of(
          ModuleBuilder().with_body({0, 0x41, 0x80, 0x80, 0x80, 0x80, 0x78, 0x1A, 0x0B}).get())
          .message,
      "");
  expect_refused(
      ModuleBuilder().with_body({0, 0x41, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x1A, 0x0B}),
      "integer representation too long");
}

TEST(HostileModule, NamesThatAreNoText) {
  expect_refused(ModuleBuilder().section(0, {2, 0xC0, 0x80}), "malformed UTF-8");
  expect_refused(ModuleBuilder().section(0, {3, 0xED, 0xA0, 0x80}), "malformed UTF-8");
  expect_refused(ModuleBuilder().section(0, Bytes().u32(200'000).repeat(200'000, 'a')),
                 "longer than the 100000");
}

TEST(HostileModule, MemoryThatNobodyHasIsOnlyDeclared) {
  const Outcome outcome = outcome_of(ModuleBuilder().section(5, Bytes{1, 0}.u32(65'536)).get());
  EXPECT_EQ(outcome.message, "");
  EXPECT_LE(outcome.peak_bytes, 4096U);
}

TEST(HostileModule, WhatIsNotImplementedIsNamed) {
  const Outcome structure = outcome_of(ModuleBuilder().section(1, {1, 0x5F, 0}).get());
  EXPECT_EQ(structure.kind, ErrorKind::unsupported);
  EXPECT_THAT(structure.message, HasSubstr("struct types"));
  const Outcome legacy = outcome_of(ModuleBuilder().with_body({0, 0x06, 0x40, 0x0B, 0x0B}).get());
  EXPECT_EQ(legacy.kind, ErrorKind::unsupported);
  EXPECT_THAT(legacy.message, HasSubstr("'try' of the legacy exception handling"));
}

TEST(HostileModule, CutAnywhereItIsRefusedAndNothingIsLost) {
  Bytes body{0, 0x41, 0, 0x1A, 0x02, 0x40, 0x0C, 0, 0x0B, 0x0B};
  const std::vector<std::byte> whole = ModuleBuilder()
                                           .with_body(body)
                                           .section(11, {0})
                                           .section(0, Bytes().name("name").repeat(9, 1))
                                           .get();
  EXPECT_EQ(outcome_of(whole).message, "");
  int accepted = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(size));
    const Outcome outcome = outcome_of(cut);
    if (outcome.message.empty()) ++accepted;
  }
  // The bare preamble, the types alone, and the module without one or both of its last sections.
  EXPECT_EQ(accepted, 4);
}

TEST(HostileModule, ChangedBytesNeverBlameUs) {
  std::mt19937 random(5);
  Bytes type{3, 0x60, 2, 0x7F, 0x7E, 1, 0x7D, 0x60, 0, 0, 0x4E, 2, 0x60, 0, 0, 0x60, 1, 0x7F, 0};
  Bytes body{1, 2, 0x7F, 0x41, 5, 0x02, 0x40, 0x20, 0, 0x0D, 0, 0x0B, 0x28, 2, 4, 0x1A, 0x0B};
  Bytes code{1};
  code.u32(body.size()).add(body);
  const std::vector<std::byte> whole = ModuleBuilder()
                                           .section(1, type)
                                           .section(3, {1, 1})
                                           .section(5, {1, 0, 1})
                                           .section(6, {1, 0x7F, 0, 0x41, 3, 0x0B})
                                           .section(7, Bytes{1}.name("f").add({0, 0}))
                                           .section(10, code)
                                           .section(11, {1, 0, 0x41, 0, 0x0B, 2, 7, 7})
                                           .get();
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> changed = whole;
    for (int change = 0; change < 3; ++change) {
      changed[random() % changed.size()] = static_cast<std::byte>(random());
    }
    const Outcome outcome = outcome_of(changed);
    const bool is_refused = !outcome.message.empty();
    ASSERT_FALSE(is_refused && outcome.kind == ErrorKind::internal) << outcome.message;
  }
}

}  // namespace
}  // namespace plimsoll::wasm::test
