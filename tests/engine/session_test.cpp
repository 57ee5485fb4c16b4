// Sessions through the public API: inputs, outputs, states, memory given back, cancellation,
// progress.
#include "plimsoll/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine_models.h"
#include "errors.h"

namespace plimsoll::engine_test {
namespace {

using ::testing::ElementsAre;

TEST(Session, ReadsTheCallersInputWithoutCopy) {
  const ModelFile file(add_model());
  const Engine engine = Engine::create({});
  Session session = engine.open(file.path()).new_session();
  std::vector<float> x{1, 2, 3, 4};
  session.set_input("x", view_of(x, {1, 4}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("y")), ElementsAre(2, 4, 6, 8));
  x = {10, 20, 30, 40};  // the same memory, not set again
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("y")), ElementsAre(11, 22, 33, 44));
}

TEST(Session, RefusesAnInputThatIsNotAsDeclared) {
  const ModelFile file(add_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  const std::vector<std::int64_t> whole(4);
  const std::vector<float> x(8);
  expect_error([&] { session.set_input("x", view_of(whole, {1, 4})); }, ErrorKind::bad_input,
               {"input 'x'", "f32", "i64"});
  expect_error([&] { session.set_input("x", view_of(x, {4})); }, ErrorKind::bad_input,
               {"input 'x'", "nx4", "has shape 4"});
  expect_error([&] { session.set_input("x", view_of(x, {4, 2})); }, ErrorKind::bad_input,
               {"input 'x'", "nx4", "4x2"});
  expect_error([&] { session.set_input("z", view_of(x, {2, 4})); }, ErrorKind::usage,
               {"no input 'z'", "'x'"});
  expect_error([&] { static_cast<void>(session.run()); }, ErrorKind::bad_input,
               {"input 'x'", "f32", "nx4"});
  session.set_input("x", view_of(x, {2, 4}));
  EXPECT_TRUE(session.run());
}

TEST(Session, WritesAnOutputWhereTheCallerWantsIt) {
  const ModelFile file(add_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  const std::vector<float> x{1, 2, 3, 4};
  session.set_input("x", view_of(x, {1, 4}));
  std::vector<float> y(4, -1);
  session.set_output("y", room_in(y, {1, 4}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(session.output("y").data, reinterpret_cast<const std::byte*>(y.data()));
  // Back to the session's own memory.
  session.set_output("y", {});
  y.assign(4, -1);
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(floats_of(session.output("y")), ElementsAre(2, 4, 6, 8));
}

TEST(Session, RefusesOutputMemoryThatDoesNotFit) {
  const ModelFile file(add_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  const std::vector<float> x(8);
  session.set_input("x", view_of(x, {2, 4}));
  std::vector<float> small(4, -1);
  session.set_output("y", room_in(small, {1, 4}));
  expect_error([&] { static_cast<void>(session.run()); }, ErrorKind::usage,
               {"output 'y'", "f32 2x4 (32 bytes)", "1x4 (16 bytes)"});
  EXPECT_THAT(small, ElementsAre(-1, -1, -1, -1));
  std::vector<std::int64_t> whole(8, -1);
  session.set_output("y", room_in(whole, {2, 4}));
  expect_error([&] { static_cast<void>(session.run()); }, ErrorKind::usage,
               {"output 'y'", "f32", "i64"});
  EXPECT_EQ(whole[0], -1);
  std::vector<float> large(100, -1);
  session.set_output("y", room_in(large, {100}));
  ASSERT_TRUE(session.run());
  EXPECT_EQ(large[8], -1);
  EXPECT_EQ(session.output("y").shape, (Shape{2, 4}));
}

TEST(Session, RefusesOutputMemoryThatIsTooSmallForADataDependentSize) {
  const ModelFile file(staged_model(3));
  Session session = Engine::create({}).open(file.path()).new_session();
  const std::vector<float> x{0, 1, 1};
  session.set_input("x", view_of(x, {3}));
  std::vector<float> small(3, -1);
  session.set_output("y", room_in(small, {1, 3}));
  expect_error([&] { static_cast<void>(session.run()); }, ErrorKind::usage,
               {"output 'y'", "2x3 (24 bytes)", "12 bytes"});
  std::vector<float> enough(6, -1);
  session.set_output("y", room_in(enough, {2, 3}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(enough, ElementsAre(2, 2, 2, 4, 4, 4));
}

TEST(Session, TakesASequenceWithoutCopyAndGivesOneBack) {
  const ModelFile file(
      GraphWriter()
          .input("items",
                 tensor::test::sequence_type(tensor::test::tensor_type(ElementType::f32, {"n"})))
          .node(NodeWriter("ConcatFromSequence", {"items"}, {"joined"}).integer("axis", 0))
          .node(NodeWriter("SequenceInsert", {"items", "joined"}, {"more"}))
          .output("joined", ElementType::f32, {"m"})
          .output("more",
                  tensor::test::sequence_type(tensor::test::tensor_type(ElementType::f32, {"n"}))));
  Session session = Engine::create({}).open(file.path()).new_session();
  std::vector<float> first{1, 2};
  const std::vector<float> second{3};
  session.set_input_sequence("items", {view_of(first, {2}), view_of(second, {1})});
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("joined")), ElementsAre(1, 2, 3));
  first = {7, 8};  // the same memory, not set again
  ASSERT_TRUE(session.run());
  EXPECT_FALSE(session.output_is_sequence("joined"));
  ASSERT_TRUE(session.output_is_sequence("more"));
  const std::vector<ConstTensorView> more = session.output_sequence("more");
  ASSERT_EQ(more.size(), 3U);
  EXPECT_THAT(floats_of(more[0]), ElementsAre(7, 8));
  EXPECT_THAT(floats_of(more[2]), ElementsAre(7, 8, 3));
  expect_error([&] { static_cast<void>(session.output("more")); }, ErrorKind::usage,
               {"'more' is not a tensor"});
  expect_error([&] { static_cast<void>(session.output_sequence("joined")); }, ErrorKind::usage,
               {"'joined' is not a sequence"});
}

TEST(Session, HasNoOutputBeforeARunAndNoneOfAnotherName) {
  const ModelFile file(add_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  expect_error([&] { static_cast<void>(session.output("y")); }, ErrorKind::usage, {"before a run"});
  expect_error([&] { static_cast<void>(session.output("q")); }, ErrorKind::usage,
               {"no output 'q'", "'y'"});
  expect_error([&] { static_cast<void>(session.output_sequence("y")); }, ErrorKind::usage,
               {"before a run"});
}

TEST(Session, FollowsNewShapes) {
  const ModelFile file(product_model(8, 4));
  Session session = Engine::create({}).open(file.path()).new_session();
  for (const std::int64_t rows : {1, 5, 2, 0, 5}) {
    const std::vector<float> x(static_cast<std::size_t>(rows * 8), 0.5F);
    session.set_input("x", view_of(x, {rows, 8}));
    ASSERT_TRUE(session.run());
    const ConstTensorView y = session.output("y");
    ASSERT_EQ(y.shape, (Shape{rows, 4}));
    for (const float value : floats_of(y)) EXPECT_EQ(value, 4);
  }
}

TEST(Session, KeepsItsOutputsUntilTheNextRunWhateverIsSetMeanwhile) {
  const ModelFile file(add_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  const std::vector<float> x{1, 2, 3, 4};
  session.set_input("x", view_of(x, {1, 4}));
  ASSERT_TRUE(session.run());
  const ConstTensorView y = session.output("y");
  const std::vector<float> more(4000, 1);
  session.set_input("x", view_of(more, {1000, 4}));
  static_cast<void>(session.plan());
  EXPECT_THAT(floats_of(y), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(floats_of(session.output("y")), ElementsAre(2, 4, 6, 8));
  ASSERT_TRUE(session.run());
  EXPECT_EQ(session.output("y").shape, (Shape{1000, 4}));
}

TEST(SessionState, IsHandedFromRunToRunInPlace) {
  const ModelFile file(state_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  session.bind_state("next", "state");
  const std::vector<float> x{1, 2};
  const std::vector<float> first{0, 8};
  session.set_input("x", view_of(x, {2}));
  session.set_input("state", view_of(first, {2}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(1, 6));
  EXPECT_THAT(floats_of(session.output("y")), ElementsAre(2, 7));
  const std::byte* const one_side = session.output("next").data;
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(1.5, 5));
  const std::byte* const other_side = session.output("next").data;
  EXPECT_NE(one_side, other_side);
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(1.75, 4.5));
  EXPECT_EQ(session.output("next").data, one_side);  // computed there, not copied elsewhere
  EXPECT_THAT(first, ElementsAre(0, 8));             // the caller's memory is only read
}

TEST(SessionState, SurvivesMemoryGivenBackAndCanBeSetAnew) {
  const ModelFile file(state_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  session.bind_state("next", "state");
  const std::vector<float> x{1};
  const std::vector<float> start{4};
  session.set_input("x", view_of(x, {1}));
  session.set_input("state", view_of(start, {1}));
  ASSERT_TRUE(session.run());  // 3
  session.release_memory();
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(2.5));
  session.set_input("state", view_of(start, {1}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(3));
}

TEST(SessionState, IsRefusedWhereItCannotBe) {
  const ModelFile file(state_model());
  Session session = Engine::create({}).open(file.path()).new_session();
  expect_error([&] { session.bind_state("nothing", "state"); }, ErrorKind::usage, {"'nothing'"});
  expect_error([&] { session.bind_state("next", "nothing"); }, ErrorKind::usage, {"'nothing'"});
  session.bind_state("next", "state");
  expect_error([&] { session.bind_state("next", "x"); }, ErrorKind::usage, {"'next=x'", "already"});
  expect_error([&] { session.bind_state("y", "state"); }, ErrorKind::usage, {"already"});
  std::vector<float> room(2);
  expect_error([&] { session.set_output("next", room_in(room, {2})); }, ErrorKind::usage,
               {"'next'", "state"});
}

TEST(SessionState, OfAnotherShapeThanTheInputIsAnError) {
  const ModelFile file(
      GraphWriter()
          .input("state", ElementType::f32, {2})
          .node(NodeWriter("Concat", {"state", "state"}, {"next"}).integer("axis", 0))
          .output("next", ElementType::f32, {4}));
  Session session = Engine::create({}).open(file.path()).new_session();
  session.bind_state("next", "state");
  const std::vector<float> start{1, 2};
  session.set_input("state", view_of(start, {2}));
  expect_error([&] { static_cast<void>(session.run()); }, ErrorKind::bad_input,
               {"output 'next'", "input 'state' has shape 2", "4"});
}

TEST(SessionState, MayGrowWhereTheInputsShapeIsOpen) {
  const ModelFile file(GraphWriter()
                           .input("x", ElementType::f32, {1})
                           .input("state", ElementType::f32, {"n"})
                           .node(NodeWriter("Concat", {"state", "x"}, {"next"}).integer("axis", 0))
                           .output("next", ElementType::f32, {"m"}));
  Session session = Engine::create({}).open(file.path()).new_session();
  session.bind_state("next", "state");
  std::vector<float> x{1};
  const std::vector<float> nothing(1);
  session.set_input("x", view_of(x, {1}));
  session.set_input("state", view_of(nothing, {0}));
  for (int run = 1; run <= 5; ++run) {
    x[0] = static_cast<float>(run);
    ASSERT_TRUE(session.run());
  }
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(1, 2, 3, 4, 5));
}

TEST(SessionState, OfADataDependentSizeIsHandedOnToo) {
  const ModelFile file(GraphWriter()
                           .input("x", ElementType::f32, {"n"})
                           .node(NodeWriter("NonZero", {"x"}, {"places"}))
                           .node(NodeWriter("Cast", {"places"}, {"numbers"}).integer("to", 1))
                           .initializer(raw_tensor<std::int64_t>("flat", {1}, {-1}))
                           .node(NodeWriter("Reshape", {"numbers", "flat"}, {"next"}))
                           .output("next", ElementType::f32, {"m"}));
  Session session = Engine::create({}).open(file.path()).new_session();
  session.bind_state("next", "x");
  const std::vector<float> start{0, 1, 1, 1};
  session.set_input("x", view_of(start, {4}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(1, 2, 3));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(0, 1, 2));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(floats_of(session.output("next")), ElementsAre(1, 2));
}

TEST(SessionMemory, WeightsOfTwoSessionsAreHeldOnce) {
  const ModelFile file(product_model(512, 512));  // 1 MiB
  const Engine engine = Engine::create({});
  const Model model = engine.open(file.path());
  const std::vector<float> x(512, 1);
  Session first = model.new_session();
  first.set_input("x", view_of(x, {1, 512}));
  ASSERT_TRUE(first.run());
  const std::uint64_t with_one = engine.reserved_bytes();
  EXPECT_GE(with_one, 1U << 20);
  Session second = model.new_session();
  second.set_input("x", view_of(x, {1, 512}));
  const PlanReport plan = second.plan();
  ASSERT_TRUE(second.run());
  EXPECT_LT(engine.reserved_bytes() - with_one, 512U << 10);
  EXPECT_LT(plan.predicted_peak_bytes, engine.reserved_bytes() + (2U << 20));
  EXPECT_EQ(floats_of(first.output("y")), floats_of(second.output("y")));
}

TEST(SessionMemory, IsGivenBackOnRequestAndWithTheSession) {
  const ModelFile file(product_model(16, 16));
  const Engine engine = Engine::create({});
  const Model model = engine.open(file.path());
  constexpr std::int64_t rows = 32768;  // y: 2 MiB
  const std::vector<float> x(static_cast<std::size_t>(rows) * 16, 1);
  std::uint64_t before = 0;
  {
    Session session = model.new_session();
    session.set_input("x", view_of(x, {rows, 16}));
    ASSERT_TRUE(session.run());
    const std::uint64_t held = engine.reserved_bytes();
    session.release_memory();
    before = engine.reserved_bytes();
    EXPECT_GE(held - before, 2U << 20);
    expect_error([&] { static_cast<void>(session.output("y")); }, ErrorKind::usage,
                 {"before a run"});
    ASSERT_TRUE(session.run());
    EXPECT_EQ(session.output("y").span<float>()[5], 16);
  }
  EXPECT_LE(engine.reserved_bytes(), before);
}

TEST(SessionMemory, OfEverythingIsGivenBackWithTheModel) {
  const ModelFile file(product_model(512, 512));
  const Engine engine = Engine::create({});
  const auto use = [&] {
    const Model model = engine.open(file.path());
    Session session = model.new_session();
    const std::vector<float> x(512, 1);
    session.set_input("x", view_of(x, {1, 512}));
    ASSERT_TRUE(session.run());
    EXPECT_GT(engine.reserved_bytes(), 1U << 20);
  };
  use();
  const std::uint64_t kept = engine.reserved_bytes();  // the engine's own, pages of the program
  use();
  EXPECT_LE(engine.reserved_bytes(), kept + (256U << 10));
}

TEST(SessionCancel, EndsTheRunAndTheSessionRunsAgain) {
  const ModelFile file(chain_model(10));
  int steps = 0;
  const Engine* running = nullptr;
  EngineOptions options;
  options.progress = [&](std::string_view phase, double) {
    if (phase == "run" && ++steps == 3 && running != nullptr) running->cancel();
  };
  const Engine engine = Engine::create(options);
  running = &engine;
  Session session = engine.open(file.path()).new_session();
  const std::vector<float> x(4, 0);
  session.set_input("x", view_of(x, {1, 4}));
  expect_error([&] { static_cast<void>(session.run()); }, ErrorKind::failure, {"cancelled"});
  EXPECT_EQ(steps, 3);
  running = nullptr;
  ASSERT_TRUE(session.run());
  EXPECT_NEAR(session.output("y").span<float>()[0], 0.7314, 0.001);
}

TEST(SessionCancel, EndsALoop) {
  const ModelFile file(loop_model(4));
  const Engine engine = Engine::create({});
  Session session = engine.open(file.path()).new_session();
  const std::vector<float> x(4, 0);
  const std::vector<float> endless{4e15F};
  session.set_input("x", view_of(x, {1, 4}));
  session.set_input("count", view_of(endless, {}));
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    engine.cancel();
  });
  expect_error([&] { static_cast<void>(session.run()); }, ErrorKind::failure, {"cancelled"});
  canceller.join();
}

TEST(SessionProgress, RisesToOneInEachPhase) {
  const ModelFile file(GraphWriter(product_model(64, 64)));
  std::map<std::string, std::vector<double>> seen;
  EngineOptions options;
  options.progress = [&](std::string_view phase, double fraction) {
    seen[std::string(phase)].push_back(fraction);
  };
  Session session = Engine::create(options).open(file.path()).new_session();
  const std::vector<float> x(64, 1);
  session.set_input("x", view_of(x, {1, 64}));
  ASSERT_TRUE(session.run());
  for (const char* phase : {"encode", "run"}) {
    ASSERT_FALSE(seen[phase].empty()) << phase;
    EXPECT_TRUE(std::ranges::is_sorted(seen[phase])) << phase;
    EXPECT_GE(seen[phase].front(), 0);
    EXPECT_DOUBLE_EQ(seen[phase].back(), 1) << phase;
  }
}

TEST(SessionProfile, NamesEveryStepOnlyWhenAskedFor) {
  const ModelFile file(chain_model(3));
  Session session = Engine::create({}).open(file.path()).new_session();
  const std::vector<float> x(4, 0);
  session.set_input("x", view_of(x, {1, 4}));
  auto plain = session.run();
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->profile.empty());
  session.set_profiling(true);
  auto profiled = session.run();
  ASSERT_TRUE(profiled);
  ASSERT_EQ(profiled->profile.size(), 3U);
  EXPECT_NE(profiled->profile[1].name.find("step1"), std::string::npos);
  EXPECT_EQ(profiled->profile[1].op, "Cos");
  EXPECT_EQ(profiled->profile[1].output_bytes, 16U);
}

TEST(EngineOptions, OutOfRangeAreUsageErrors) {
  expect_error([] { static_cast<void>(Engine::create({.threads = 0})); }, ErrorKind::usage,
               {"0 threads", "1 to 64"});
  expect_error([] { static_cast<void>(Engine::create({.threads = 65})); }, ErrorKind::usage,
               {"65 threads"});
  expect_error([] { static_cast<void>(Engine::create({.target = "abacus"})); }, ErrorKind::usage,
               {"abacus"});
  expect_error([] { static_cast<void>(Engine::create({.owns_process = true})); }, ErrorKind::usage,
               {"limit_covers_process"});
}

}  // namespace
}  // namespace plimsoll::engine_test
