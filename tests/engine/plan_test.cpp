// Plans through the public API: verdicts, limits, what is staged, branches that nobody knows yet.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine_models.h"
#include "errors.h"
#include "plimsoll/engine.h"

namespace plimsoll::engine_test {
namespace {

constexpr std::uint64_t mebibyte = 1U << 20;

EngineOptions limited(std::uint64_t bytes) {
  EngineOptions options;
  options.memory_limit_bytes = bytes;
  return options;
}

const PhaseReport* phase_named(const PlanReport& plan, std::string_view name) {
  for (const PhaseReport& phase : plan.phases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

TEST(Plan, SaysWhatItTakes) {
  const ModelFile file(product_model(512, 512));
  const Engine engine = Engine::create(limited(64 * mebibyte));
  Session session = engine.open(file.path()).new_session();
  session.set_input_shape("x", ElementType::f32, {1024, 512});
  const PlanReport plan = session.plan();
  EXPECT_EQ(plan.verdict, Verdict::fits);
  EXPECT_EQ(plan.limit_bytes, 64 * mebibyte);
  EXPECT_EQ(plan.limit_source, "option");
  EXPECT_EQ(plan.weights_source_bytes, mebibyte);
  EXPECT_GE(plan.weights_encoded_bytes, mebibyte);
  EXPECT_LE(plan.weights_encoded_bytes, mebibyte * 102 / 100);
  EXPECT_GE(plan.activation_bytes, 2 * mebibyte);  // y alone
  ASSERT_EQ(plan.weights.size(), 1U);
  EXPECT_EQ(plan.weights[0].name, "w");
  ASSERT_NE(phase_named(plan, "run"), nullptr);
  ASSERT_NE(phase_named(plan, "encode"), nullptr);
  EXPECT_GE(plan.predicted_peak_bytes, plan.weights_encoded_bytes + plan.activation_bytes);
  EXPECT_GE(plan.smallest_workable_limit_bytes, plan.predicted_peak_bytes);
  // Nothing was done: no weight is held.
  EXPECT_LE(engine.reserved_bytes() + plan.weights_encoded_bytes + plan.activation_bytes,
            plan.predicted_peak_bytes);
}

TEST(Plan, TheSmallestWorkableLimitWorksAndBelowItIsRefused) {
  const ModelFile file(product_model(512, 512));
  const std::vector<float> x(512 * 1024, 1);
  {
    // Touches the pages of the program that a run takes, which later engines then do not add.
    Session session = Engine::create(limited(128 * mebibyte)).open(file.path()).new_session();
    session.set_input("x", view_of(x, {1024, 512}));
    ASSERT_TRUE(session.run());
  }
  Session free_session = Engine::create(limited(64 * mebibyte)).open(file.path()).new_session();
  free_session.set_input("x", view_of(x, {1024, 512}));
  const std::uint64_t smallest = free_session.plan().smallest_workable_limit_bytes;
  {
    Session session = Engine::create(limited(smallest)).open(file.path()).new_session();
    session.set_input("x", view_of(x, {1024, 512}));
    EXPECT_NE(session.plan().verdict, Verdict::does_not_fit);
    EXPECT_TRUE(session.run());
  }
  const Engine engine = Engine::create(limited(3 * mebibyte));
  Session session = engine.open(file.path()).new_session();
  session.set_input("x", view_of(x, {1024, 512}));
  const PlanReport refused = session.plan();
  EXPECT_EQ(refused.verdict, Verdict::does_not_fit);
  EXPECT_LE(refused.smallest_workable_limit_bytes, smallest + 256 * 1024);
  EXPECT_GE(refused.smallest_workable_limit_bytes, smallest - mebibyte / 2);
  const std::uint64_t held = engine.reserved_bytes();
  const auto outcome = session.run();
  ASSERT_FALSE(outcome);
  EXPECT_GE(outcome.error().smallest_workable_limit_bytes, smallest - mebibyte / 2);
  EXPECT_NE(outcome.error().purpose.find("model.onnx"), std::string::npos);
  EXPECT_LT(engine.reserved_bytes(), held + mebibyte / 2);  // before anything large
}

TEST(Plan, AWeightThatIsThereAlreadyIsNotCountedTwice) {
  const ModelFile file(product_model(1024, 1024));  // 4 MiB
  const Engine engine = Engine::create(limited(64 * mebibyte));
  const Model model = engine.open(file.path());
  const std::vector<float> x(1024, 1);
  Session first = model.new_session();
  first.set_input("x", view_of(x, {1, 1024}));
  const PlanReport before = first.plan();
  ASSERT_TRUE(first.run());
  Session second = model.new_session();
  second.set_input("x", view_of(x, {1, 1024}));
  const PlanReport after = second.plan();
  EXPECT_LT(after.predicted_peak_bytes, before.predicted_peak_bytes + mebibyte);
}

TEST(StagedPlan, FitsSoFarAndSaysWhatItWaitsFor) {
  const ModelFile file(staged_model(16));
  Session session = Engine::create(limited(64 * mebibyte)).open(file.path()).new_session();
  session.set_input_shape("x", ElementType::f32, {1000});
  const PlanReport plan = session.plan();
  EXPECT_EQ(plan.verdict, Verdict::fits_so_far);
  EXPECT_NE(plan.stage.find("places"), std::string::npos) << plan.stage;
}

TEST(StagedPlan, ALaterRefusalIsAResultThatNamesTheStage) {
  constexpr std::int64_t columns = 4096;
  const ModelFile file(staged_model(columns));
  const Engine engine = Engine::create(limited(16 * mebibyte));
  Session session = engine.open(file.path()).new_session();
  std::vector<float> x(4096, 0);
  session.set_input("x", view_of(x, {4096}));
  ASSERT_TRUE(session.run());  // nothing found: small
  EXPECT_EQ(session.output("y").shape, (Shape{0, columns}));
  const std::uint64_t held = engine.reserved_bytes();
  x.assign(4096, 1);  // 4096 × 4096 floats: 64 MiB
  const auto outcome = session.run();
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().stage.find("places"), std::string::npos) << outcome.error().stage;
  EXPECT_GT(outcome.error().requested_bytes, 60 * mebibyte);
  EXPECT_GT(outcome.error().smallest_workable_limit_bytes, 64 * mebibyte);
  EXPECT_LE(engine.reserved_bytes(), held + mebibyte);
  x.assign(4096, 0);
  x[7] = 1;
  ASSERT_TRUE(session.run());  // the session is as it was
  EXPECT_EQ(session.output("y").span<float>()[0], 14);
}

TEST(StagedPlan, ALoopThatDoesNotFitIsRefusedByName) {
  const ModelFile file(loop_model(1024));
  const Engine engine = Engine::create(limited(16 * mebibyte));
  Session session = engine.open(file.path()).new_session();
  const std::vector<float> x(1024UL * 1024, 0);  // 4 MiB; a turn holds it three times and more
  std::vector<float> count{3};
  session.set_input("x", view_of(x, {1024, 1024}));
  session.set_input("count", view_of(count, {}));
  EXPECT_EQ(session.plan().verdict, Verdict::fits_so_far);
  const std::uint64_t held = engine.reserved_bytes();
  const auto outcome = session.run();
  if (!outcome) {
    EXPECT_NE(outcome.error().stage.find("loop"), std::string::npos) << outcome.error().stage;
    EXPECT_LT(engine.reserved_bytes(), held + 2 * mebibyte);
  } else {
    EXPECT_EQ(session.output("y").span<float>()[0], 3);
  }
  const std::vector<float> little(1024, 1);
  session.set_input("x", view_of(little, {1, 1024}));
  ASSERT_TRUE(session.run());
  EXPECT_EQ(session.output("y").span<float>()[9], 4);
}

TEST(BranchPlan, TakesTheLargerOfUnknownBranches) {
  constexpr std::int64_t columns = 512;
  const ModelFile file(branch_model(columns));
  Session session = Engine::create(limited(64 * mebibyte)).open(file.path()).new_session();
  constexpr std::int64_t rows = 4096;  // the large way: 4096 × 512 floats, 8 MiB
  std::vector<float> x(rows, -1);
  session.set_input("x", view_of(x, {rows}));
  const PlanReport plan = session.plan();
  EXPECT_EQ(plan.verdict, Verdict::fits);
  EXPECT_GE(plan.activation_bytes, 8 * mebibyte);
  EXPECT_LT(plan.activation_bytes, 18 * mebibyte);
  EXPECT_GT(plan.predicted_peak_bytes, 8 * mebibyte);
  ASSERT_TRUE(session.run());
  EXPECT_EQ(session.output("y").span<float>()[0], -rows);
  x.assign(rows, 50);
  ASSERT_TRUE(session.run());
  EXPECT_FLOAT_EQ(session.output("y").span<float>()[0], rows * columns);
}

TEST(BranchPlan, RefusesALimitThatOnlyTheSmallBranchWouldKeep) {
  const ModelFile file(branch_model(512));
  constexpr std::int64_t rows = 4096;
  const std::vector<float> x(rows, -1);
  Session session = Engine::create(limited(6 * mebibyte)).open(file.path()).new_session();
  session.set_input("x", view_of(x, {rows}));
  const PlanReport plan = session.plan();
  EXPECT_EQ(plan.verdict, Verdict::does_not_fit);
  EXPECT_GT(plan.smallest_workable_limit_bytes, 8 * mebibyte);
  Session enough =
      Engine::create(limited(plan.smallest_workable_limit_bytes)).open(file.path()).new_session();
  std::vector<float> large(rows, 50);
  enough.set_input("x", view_of(large, {rows}));
  EXPECT_EQ(enough.plan().verdict, Verdict::fits);
  EXPECT_TRUE(enough.run());
}

TEST(DefaultLimit, HoldsLikeAGivenOne) {
  const ModelFile file(add_model());
  const Engine engine = Engine::create({});
  EXPECT_GT(engine.limit_bytes(), 0U);
  EXPECT_TRUE(engine.limit_source() == "cgroup" || engine.limit_source() == "available");
  Session session = engine.open(file.path()).new_session();
  // 2^42 × 4 floats: more than any machine that runs tests has.
  session.set_input_shape("x", ElementType::f32, {std::int64_t{1} << 42, 4});
  const PlanReport plan = session.plan();
  EXPECT_EQ(plan.verdict, Verdict::does_not_fit);
  EXPECT_EQ(plan.limit_bytes, engine.limit_bytes());
  EXPECT_GT(plan.smallest_workable_limit_bytes, engine.limit_bytes());
  EXPECT_FALSE(engine.allocate(engine.limit_bytes() + 1, "input 'x'"));
}

}  // namespace
}  // namespace plimsoll::engine_test
