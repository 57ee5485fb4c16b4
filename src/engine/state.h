// What the handles of the public API point to. Why it exists: engine.h shows no internals. May
// touch: everything below.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/measured_memory.h"
#include "memory/budget.h"
#include "memory/timeline.h"
#include "plimsoll/engine.h"
#include "tensor/encode/weight_store.h"
#include "tensor/graph/graph.h"
#include "tensor/run/execution.h"

namespace plimsoll {

struct Engine::State {
  EngineOptions options;
  std::uint64_t limit_bytes = 0;
  std::string limit_source;
  std::uint64_t base_bytes = 0;
  std::string target;
  std::shared_ptr<memory::Timeline> timeline;
  std::shared_ptr<memory::Budget> root;
  std::shared_ptr<memory::Budget> host;         ///< what Engine::allocate gave to the host program
  std::atomic<std::uint64_t> cancellations{0};  ///< a run ends when it grows
  std::once_flag backstop;                      ///< RLIMIT_DATA is set once, when a plan first fits

  std::unique_ptr<MeasuredMemory> measured;  ///< where the limit covers the process
  UnreservedShare unreserved;                ///< where it covers only what the engine adds
  std::mutex unreserved_mutex;
  /// Adds what was seen: the program's pages to the engine's share, the heap to `share`.
  void add_growth(const UnreservedGrowth& growth, UnreservedShare& share);
};

struct Model::State {
  std::shared_ptr<Engine::State> engine;
  std::shared_ptr<const tensor::ModelGraph> graph;
  std::shared_ptr<memory::Budget> weight_budget;
  std::unique_ptr<tensor::WeightStore> weights;
  UnreservedShare unreserved;  ///< as the engine's
};

struct Session::State {
  std::shared_ptr<Model::State> model;
  std::unique_ptr<tensor::kernels::ThreadPool> threads;
  memory::Reservation stacks;
  std::shared_ptr<memory::Budget> budget;
  std::unique_ptr<tensor::Execution> execution;
  UnreservedShare unreserved;  ///< as the engine's
  std::vector<bool> input_set;
  struct StateBinding {
    std::size_t output = 0;
    std::size_t input = 0;
    std::array<memory::Block, 2> memory;  ///< see states.h
    std::size_t side = 0;                 ///< the one that the next run writes
  };
  std::vector<std::unique_ptr<StateBinding>> bindings;
  std::uint64_t cancellations_before = 0;  ///< when the run began
  bool has_run = false;
  std::uint64_t version_run = 0;  ///< of the execution's plan, when it last ran through
  /// What the last plan that fitted needs: a run that needs the same is not refused for what has
  /// become resident since (decoded inputs, printing), which the promise had room for.
  std::uint64_t promised_weight_bytes = UINT64_MAX;
  std::uint64_t promised_activation_bytes = UINT64_MAX;
  bool profiling = false;

  /// Brings the ledger's entries for what nobody reserves up to date: the process's, or those of
  /// the model and of this session.
  [[nodiscard]] std::expected<void, Refusal> claim_unreserved();
  /// What claim_unreserved found no room for: taken, and not in the ledger.
  [[nodiscard]] std::uint64_t unclaimed_bytes() const;
  [[nodiscard]] const tensor::Graph& graph() const { return model->graph->main; }
  [[nodiscard]] std::size_t input_index(std::string_view name) const;
  [[nodiscard]] std::size_t output_index(std::string_view name) const;
};

}  // namespace plimsoll
