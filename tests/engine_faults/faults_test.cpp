// Memory that runs out at any point of import, plan, encode and run: a refusal or an error, nothing
// held afterwards, and the same model runs when memory is there again.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "engine/engine_models.h"
#include "engine/state.h"
#include "plimsoll/engine.h"
#include "support/new_failure.h"

namespace plimsoll {

struct EngineTestAccess {
  static memory::Budget& root(const Engine& engine) { return *engine.state_->root; }
  /// Without what the engine itself keeps: its own heap, touched pages of the program.
  static std::uint64_t used_by_models(const Engine& engine) {
    return engine.state_->root->used() - engine.state_->unreserved.reserved_bytes();
  }
};

}  // namespace plimsoll

namespace plimsoll::engine_test {
namespace {

/// A model and how a host program runs it, from the file to the last of two runs.
struct Subject {
  std::string name;
  GraphWriter graph;
  std::function<void(Session&)> feed;
};

void PrintTo(const Subject& subject, std::ostream* stream) {  // NOLINT: GoogleTest's name
  *stream << subject.name;
}

template <std::size_t count>
void set_ones(Session& session, const char* name, const Shape& shape) {
  static const std::vector<float> ones(count, 1);
  session.set_input(name, view_of(ones, shape));
}

std::vector<Subject> subjects() {
  return {
      {"Add", add_model(), [](Session& session) { set_ones<8>(session, "x", {2, 4}); }},
      {"Product", product_model(256, 128),
       [](Session& session) { set_ones<256UL * 300>(session, "x", {300, 256}); }},
      {"State", state_model(),
       [](Session& session) {
         session.bind_state("next", "state");
         set_ones<20'000>(session, "x", {20'000});
         set_ones<20'000>(session, "state", {20'000});
       }},
      {"Staged", staged_model(64), [](Session& session) { set_ones<400>(session, "x", {400}); }},
      {"Branch", branch_model(64), [](Session& session) { set_ones<400>(session, "x", {400}); }},
      {"Loop", loop_model(512),
       [](Session& session) {
         set_ones<512UL * 64>(session, "x", {64, 512});
         set_ones<1>(session, "count", {});
       }},
  };
}

class Faults : public testing::TestWithParam<Subject> {
 protected:
  Faults() : file_(GetParam().graph) {}

  /// What the limit covers decides who is charged for the heap; the policy, whether weights are
  /// held or streamed.
  [[nodiscard]] static EngineOptions options(bool covers_process) {
    EngineOptions result;
    result.memory_limit_bytes = std::uint64_t{1} << 30;
    result.limit_covers_process = covers_process;
    result.policy = covers_process ? Policy::favor_min_peak : Policy::favor_speed;
    return result;
  }

  /// Two runs by a new session; false: refused.
  [[nodiscard]] bool use(const Engine& engine) const {
    const Model model = engine.open(file_.path());
    static_cast<void>(model.info());
    Session session = model.new_session();
    GetParam().feed(session);
    static_cast<void>(session.plan());
    for (int run = 0; run < 2; ++run) {
      if (auto outcome = session.run(); !outcome) {
        EXPECT_FALSE(outcome.error().purpose.empty());
        EXPECT_FALSE(outcome.error().to_string().empty());
        return false;
      }
    }
    return true;
  }

  ModelFile file_;
};

TEST_P(Faults, TheNthReservationRefusedIsARefusal) {
  for (const bool covers_process : {false, true}) {
    // Beyond the last reservation nothing is refused any more; some are tried twice.
    constexpr int enough_in_a_row = 12;
    int refusals = 0;
    int in_a_row = 0;
    for (std::uint64_t nth = 1; in_a_row < enough_in_a_row; ++nth) {
      const Engine engine = Engine::create(options(covers_process));
      memory::Budget& root = EngineTestAccess::root(engine);
      root.refuse_nth_reservation(nth);
      const bool has_run = use(engine);
      refusals += has_run ? 0 : 1;
      in_a_row = has_run ? in_a_row + 1 : 0;
      root.refuse_nth_reservation(0);
      if (!covers_process) {
        ASSERT_EQ(EngineTestAccess::used_by_models(engine), 0U) << "reservation " << nth;
      }
      ASSERT_TRUE(use(engine)) << "after reservation " << nth << " was refused";
    }
    EXPECT_GE(refusals, 1);
  }
}

TEST_P(Faults, ARefusedSessionRunsWhenMemoryIsThereAgain) {
  const Engine engine = Engine::create(options(false));
  memory::Budget& root = EngineTestAccess::root(engine);
  const Model model = engine.open(file_.path());
  for (std::uint64_t nth = 1; nth <= 8; ++nth) {
    Session session = model.new_session();
    GetParam().feed(session);
    root.refuse_nth_reservation(nth);
    static_cast<void>(session.run());
    root.refuse_nth_reservation(0);
    EXPECT_TRUE(session.run()) << "after reservation " << nth << " was refused";
  }
}

TEST_P(Faults, TheNthAllocationFailedIsAnErrorAndLeaksNothing) {
  for (const bool covers_process : {false, true}) {
    std::uint64_t errors = 0;
    const auto failures = plimsoll::test::for_each_failed_new([&] {
      try {
        const Engine engine = Engine::create(options(covers_process));
        static_cast<void>(use(engine));
      } catch (const Error& error) {
        ++errors;
        if (error.kind() != ErrorKind::internal) throw std::string(error.what());
      } catch (const std::bad_alloc&) {
        ++errors;
      }
    });
    EXPECT_GT(failures.failed, 100U);
    EXPECT_EQ(failures.caught, 0U) << "an exception that is neither Error(internal) nor bad_alloc";
    EXPECT_GT(errors, failures.failed / 2);
    EXPECT_EQ(failures.leaked, 0U);
  }
}

TEST_P(Faults, AnAllocationFailedInARunLeavesTheSessionUsable) {
  const Engine engine = Engine::create(options(false));
  const Model model = engine.open(file_.path());
  std::vector<float> right;
  {
    Session session = engine.open(file_.path()).new_session();
    GetParam().feed(session);
    ASSERT_TRUE(session.run());
    right = floats_of(session.output("y"));
  }
  for (std::uint64_t nth = 1; nth < 400; nth += 7) {
    Session session = model.new_session();
    GetParam().feed(session);
    {
      const plimsoll::test::NewFailure failure(nth);
      try {
        static_cast<void>(session.run());
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::internal) ADD_FAILURE() << error.message();
      } catch (const std::bad_alloc&) {  // NOLINT: may be thrown by anything
      }
    }
    EXPECT_TRUE(session.run()) << "after allocation " << nth << " failed";
    // A state has moved on if only something after the run failed.
    if (GetParam().name != "State") {
      EXPECT_EQ(floats_of(session.output("y")), right);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Faults, testing::ValuesIn(subjects()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace plimsoll::engine_test
