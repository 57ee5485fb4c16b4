// Guests in a host program: what crosses between the two, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: POSIX's

#include <atomic>
#include <csetjmp>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "wasm/module_builder.h"
#include "wasm/runtime/instance.h"
#include "wasm/runtime/parking.h"

namespace plimsoll::wasm::test {
namespace {

constexpr std::uint64_t budget_bytes = 64 << 20;

std::shared_ptr<Engine> make_engine(const std::shared_ptr<memory::Budget>& budget,
                                    bool explicit_bounds = false) {
  EngineSettings settings;
  settings.compile.explicit_bounds = explicit_bounds;
  auto engine = Engine::create(budget, settings);
  if (!engine) throw std::runtime_error(engine.error().to_string());
  return *engine;
}

std::shared_ptr<const CodeModule> compiled(const std::shared_ptr<Engine>& engine,
                                           const ModuleBuilder& module) {
  auto code = CodeModule::compile(engine, module.get());
  if (!code) throw std::runtime_error(code.error().to_string());
  return *code;
}

Instance& instantiated(Store& store, const std::shared_ptr<const CodeModule>& code,
                       std::vector<External> imports = {}) {
  const auto outcome = Instance::create(store, code, imports);
  if (!outcome) throw std::runtime_error(outcome.error().to_string());
  return *outcome->instance;
}

const FunctionRecord& function(const Instance& instance, const char* name = "f") {
  return *std::get<FunctionRecord*>(instance.find_export(name).value());
}

/// (func (export "f") (param i32) (result i32) BODY), with a memory of one page.
ModuleBuilder one_function(const Bytes& body) {
  ModuleBuilder module;
  module.section(1, {1, 0x60, 1, 0x7F, 1, 0x7F});
  module.section(3, {1, 0});
  module.section(5, {1, 0, 1});
  module.section(7, Bytes{1}.name("f").add({0, 0}));
  Bytes code{1};
  code.u32(body.size() + 1).add(0).add(body);
  return module.section(10, code);
}

/// (func (export "f") (param i32) (result i32) (call $host (local.get 0))), host imported as a.b.
ModuleBuilder calls_host() {
  ModuleBuilder module;
  module.section(1, {1, 0x60, 1, 0x7F, 1, 0x7F});
  module.section(2, Bytes{1}.name("a").name("b").add({0, 0}));
  module.section(3, {1, 0});
  module.section(7, Bytes{1}.name("f").add({0, 1}));
  return module.section(10, {1, 6, 0, 0x20, 0, 0x10, 0, 0x0B});
}

/// (func (export "f") (param i32) (result i32) (call 0 (local.get 0))): for ever.
ModuleBuilder recurses() {
  return one_function({0x20, 0, 0x10, 0, 0x0B});
}

class Bounds : public ::testing::TestWithParam<bool> {};

TEST_P(Bounds, AnAccessBeyondTheEndTrapsAndWritesNothing) {
  const auto budget = memory::Budget::root("test", budget_bytes);
  {
    const auto engine = make_engine(budget, GetParam());
    Store store(engine);
    // i32.store offset=0 (local.get 0) (i32.const -1), then i32.load of the last word.
    Instance& instance =
        instantiated(store, compiled(engine, one_function({0x20, 0, 0x41, 0x7F, 0x36, 2, 0, 0x41,
                                                           0xFC, 0xFF, 3, 0x28, 2, 0, 0x0B})));
    const auto store_at = [&](std::uint64_t address) {
      const std::vector<Cell> arguments = {{address, 0}};
      return store.call(function(instance), arguments);
    };
    EXPECT_EQ(store_at(65'533).trap, TrapKind::memory_out_of_bounds);
    EXPECT_EQ(store_at(0xFFFFFFFF).trap, TrapKind::memory_out_of_bounds);
    EXPECT_EQ(store_at(0).results.at(0).low & 0xFFFFFFFFU, 0U);  // the last word is untouched
    EXPECT_EQ(store_at(65'532).results.at(0).low & 0xFFFFFFFFU, 0xFFFFFFFFU);
    // What the upper half of an argument holds is nobody's address.
    EXPECT_EQ(store_at(0xDEADBEEF00000000).trap, TrapKind::none);
  }
  EXPECT_EQ(budget->used(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Forms, Bounds, ::testing::Bool());

TEST(Runtime, AnExceptionOfTheHostPassesThroughTheGuest) {
  const auto budget = memory::Budget::root("test", budget_bytes);
  const auto engine = make_engine(budget);
  Store store(engine);
  const std::vector<ValueType> one = {i32_type};
  int depth = 0;
  const FunctionRecord* guest = nullptr;
  FunctionRecord* host = store.add_host_function(
      one, one, [&](std::span<const Cell> arguments, std::span<Cell> results) {
        if (arguments[0].low == 0) throw std::runtime_error("of the host");
        if (arguments[0].low == 1) return TrapKind::unreachable;
        if (++depth < 4)
          return store.call(*guest, std::vector<Cell>{{arguments[0].low - 1, 0}}).trap;
        results[0].low = 7;
        return TrapKind::none;
      });
  Instance& instance = instantiated(store, compiled(engine, calls_host()), {host});
  guest = &function(instance);
  const auto call = [&](std::uint64_t number) {
    depth = 0;
    return store.call(*guest, std::vector<Cell>{{number, 0}});
  };
  EXPECT_THROW((void)call(0), std::runtime_error);
  EXPECT_EQ(call(1).trap, TrapKind::unreachable);
  EXPECT_EQ(call(3).trap, TrapKind::unreachable);  // through two guests
  EXPECT_EQ(call(9).trap, TrapKind::none);
  EXPECT_EQ(store.context()->activation, nullptr);
}

TEST(Runtime, RecursionForEverIsATrapOnAnyThread) {
  const auto budget = memory::Budget::root("test", budget_bytes);
  const auto engine = make_engine(budget);
  const auto code = compiled(engine, recurses());
  const auto run = [&] {
    Store store(engine);
    Instance& instance = instantiated(store, code);
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(store.call(function(instance), std::vector<Cell>{{1, 0}}).trap,
                TrapKind::stack_overflow);
    }
  };
  run();
  std::thread(run).join();
}

TEST(Runtime, GrowingIsRefusedByTheBudgetAndTheGuestGoesOn) {
  const auto budget = memory::Budget::root("test", 4 << 20);
  const auto engine = make_engine(budget);
  Store store(engine);
  // memory.grow (local.get 0)
  Instance& instance =
      instantiated(store, compiled(engine, one_function({0x20, 0, 0x40, 0, 0x0B})));
  const auto grow = [&](std::uint64_t pages) {
    return static_cast<std::int32_t>(
        store.call(function(instance), std::vector<Cell>{{pages, 0}}).results.at(0).low);
  };
  EXPECT_EQ(grow(10), 1);
  EXPECT_EQ(grow(1000), -1);
  EXPECT_EQ(grow(0), 11);
  EXPECT_EQ(grow(0xFFFFFFFF), -1);
}

TEST(Runtime, EveryRefusedClaimIsAValueAndLosesNothing) {
  int refused = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    const auto budget = memory::Budget::root("test", budget_bytes);
    budget->refuse_nth_reservation(nth);
    bool complete = false;
    if (auto engine = Engine::create(budget, {}); engine) {
      if (auto code = CodeModule::compile(*engine, recurses().get()); code) {
        Store store(*engine);
        complete = Instance::create(store, *code, {}).has_value();
      }
    }
    ASSERT_EQ(budget->used(), 0U) << nth;
    if (complete) break;
    ++refused;
  }
  EXPECT_GT(refused, 20);
}

TEST(Runtime, ImportsOfAnotherTypeAreRefusedByName) {
  const auto budget = memory::Budget::root("test", budget_bytes);
  const auto engine = make_engine(budget);
  Store store(engine);
  const std::vector<ValueType> other = {i64_type};
  FunctionRecord* host = store.add_host_function(
      other, other, [](std::span<const Cell>, std::span<Cell>) { return TrapKind::none; });
  const auto code = compiled(engine, calls_host());
  const std::vector<External> imports = {host};
  try {
    std::ignore = Instance::create(store, code, imports);
    ADD_FAILURE() << "it links";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("function 'a'.'b' has another type"));
  }
}

sigjmp_buf fault_of_the_host;
void leave_fault(int /*signal*/) {
  siglongjmp(fault_of_the_host, 1);
}

TEST(Runtime, AFaultOfTheHostGoesToItsOwnHandler) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = leave_fault;
  action.sa_flags = SA_NODEFER;
  // Set before the engine's handlers, so that they chain to it.
  ASSERT_EQ(::sigaction(SIGFPE, &action, &before), 0);
  const auto budget = memory::Budget::root("test", budget_bytes);
  const auto engine = make_engine(budget);
  volatile bool came_back = false;
  if (sigsetjmp(fault_of_the_host, 1) == 0) {
    ::raise(SIGFPE);
  } else {
    came_back = true;
  }
  EXPECT_TRUE(came_back);
}

TEST(Parking, WaitersAreWokenInOrderAndTimeOut) {
  int place = 0;
  const auto equal = [] { return true; };
  EXPECT_EQ(wait_at(&place, [] { return false; }, -1), WaitResult::not_equal);
  EXPECT_EQ(wait_at(&place, equal, 1'000'000), WaitResult::timed_out);
  EXPECT_EQ(notify_at(&place, 5), 0U);
  std::atomic<int> waiting = 0;
  std::atomic<int> woken = 0;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int index = 0; index < 3; ++index) {
    threads.emplace_back([&] {
      const auto counted = [&] {
        ++waiting;
        return true;
      };
      if (wait_at(&place, counted, -1) == WaitResult::woken) ++woken;
    });
  }
  while (waiting < 3) std::this_thread::yield();
  EXPECT_EQ(notify_at(&place, 1), 1U);
  EXPECT_EQ(notify_at(&place, 9), 2U);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, 3);
}

}  // namespace
}  // namespace plimsoll::wasm::test
