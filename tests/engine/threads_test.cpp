// Several threads: each with a session of its own, and sessions that wander from thread to thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "engine_models.h"
#include "memory/probe.h"
#include "plimsoll/engine.h"

namespace plimsoll::engine_test {
namespace {

constexpr int thread_count = 4;
constexpr std::int64_t width = 300;

/// What product_model(width, width) gives for rows of ones.
bool all_are(const ConstTensorView& view, float wanted) {
  const std::vector<float> values = floats_of(view);
  return std::ranges::all_of(values, [&](float value) { return value == wanted; });
}

TEST(Threads, EachRunsASessionOfOneModel) {
  const ModelFile file(product_model(width, width));
  const Engine engine = Engine::create({.threads = 2});
  const Model model = engine.open(file.path());
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < thread_count; ++thread) {
      threads.emplace_back([&, thread] {
        const auto rows = static_cast<std::int64_t>(thread + 1);
        const std::vector<float> x(static_cast<std::size_t>(rows * width), 1);
        Session session = model.new_session();
        session.set_input("x", view_of(x, {rows, width}));
        for (int run = 0; run < 3; ++run) {
          if (session.run() && all_are(session.output("y"), width)) ++right;
          session.release_memory();
        }
      });
    }
  }
  EXPECT_EQ(right, thread_count * 3);
}

TEST(Threads, LoadTheSameWeightsOnce) {
  const ModelFile file(product_model(1024, 4096));  // 16 MiB
  [[maybe_unused]] const std::uint64_t touched_before = memory::probe_process().resident_file_bytes;
  const Engine engine = Engine::create({});
  const Model model = engine.open(file.path());
  std::vector<Session> sessions;
  const std::vector<float> x(1024, 1);
  for (int index = 0; index < thread_count; ++index) {
    sessions.push_back(model.new_session());
    sessions.back().set_input("x", view_of(x, {1, 1024}));
  }
  {
    std::vector<std::jthread> threads;
    for (Session& session : sessions) {
      threads.emplace_back([&session] { EXPECT_TRUE(session.run()); });
    }
  }
  for (const Session& session : sessions) EXPECT_TRUE(all_are(session.output("y"), 1024));
  EXPECT_GE(engine.reserved_bytes(), 16U << 20);
#ifdef PLIMSOLL_SANITIZED
  // Pages of the program that were touched meanwhile are reserved too: a sanitizer's are as many as
  // a copy of the weight, so they are measured here. The bound for all the rest is the same.
  const std::uint64_t touched = memory::probe_process().resident_file_bytes - touched_before;
#else
  const std::uint64_t touched = 0;
#endif
  EXPECT_LT(engine.reserved_bytes(), (32U << 20) + touched);
}

TEST(Threads, HandASessionOn) {
  const ModelFile file(state_model());
  const Engine engine = Engine::create({.threads = 2});
  Session session = engine.open(file.path()).new_session();
  session.bind_state("next", "state");
  const std::vector<float> x{1};
  const std::vector<float> start{0};
  session.set_input("x", view_of(x, {1}));
  session.set_input("state", view_of(start, {1}));
  for (int turn = 0; turn < 6; ++turn) {
    std::jthread([&] { EXPECT_TRUE(session.run()); }).join();
  }
  EXPECT_FLOAT_EQ(session.output("next").span<float>()[0], 1.96875F);
}

TEST(Threads, OpenModelsAndAskForReportsAtOnce) {
  const ModelFile file(add_model());
  const ModelFile staged(staged_model(5));
  const Engine engine = Engine::create({});
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      const std::vector<float> x(4, 1);
      for (int turn = 0; turn < 5; ++turn) {
        const Model model = engine.open(thread % 2 == 0 ? file.path() : staged.path());
        Session session = model.new_session();
        session.set_input("x", view_of(x, thread % 2 == 0 ? Shape{1, 4} : Shape{4}));
        static_cast<void>(session.plan());
        EXPECT_TRUE(session.run());
        EXPECT_NE(engine.timeline_svg().find("</svg>"), std::string::npos);
        static_cast<void>(engine.reserved_bytes());
      }
    });
  }
}

TEST(Threads, CancelEndsAllRuns) {
  const ModelFile file(loop_model(4));
  const Engine engine = Engine::create({});
  const Model model = engine.open(file.path());
  std::atomic<int> cancelled{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&] {
      const std::vector<float> x(4, 0);
      const std::vector<float> endless{4e15F};
      Session session = model.new_session();
      session.set_input("x", view_of(x, {1, 4}));
      session.set_input("count", view_of(endless, {}));
      try {
        static_cast<void>(session.run());
      } catch (const Error& error) {
        if (error.message().find("cancelled") != std::string::npos) ++cancelled;
      }
    });
  }
  // A run that begins after the call is not meant by it, so the call is repeated.
  while (cancelled < thread_count) {
    engine.cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace
}  // namespace plimsoll::engine_test
