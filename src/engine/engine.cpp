#include "plimsoll/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/state.h"
#include "memory/backstop.h"
#include "memory/heap.h"
#include "memory/probe.h"
#include "tensor/import/onnx.h"
#include "tensor/kernels/target.h"

namespace plimsoll {

void Engine::State::add_growth(const UnreservedGrowth& growth, UnreservedShare& share) {
  share.add_load(growth.heap_bytes());
  const std::scoped_lock lock(unreserved_mutex);
  unreserved.add_load(growth.program_bytes());
}

Engine Engine::create(EngineOptions options) {
  if (options.threads < 1 || options.threads > tensor::kernels::ThreadPool::max_threads) {
    throw Error(ErrorKind::usage, fmt::format("{} threads: give 1 to {}", options.threads,
                                              tensor::kernels::ThreadPool::max_threads));
  }
  if (options.owns_process && !options.limit_covers_process) {
    throw Error(ErrorKind::usage,
                "owns_process needs limit_covers_process: a process of its own "
                "has one limit");
  }
  if (options.owns_process) memory::configure_heap();  // before anything is measured
  const UnreservedGrowth growth;
  auto state = std::make_shared<State>();
  state->target = tensor::kernels::choose_target(options.target);
  state->timeline = std::make_shared<memory::Timeline>();
  const memory::ProcessMemory process = memory::probe_process();
  state->base_bytes = process.resident_bytes;
  if (options.memory_limit_bytes) {
    state->limit_bytes = *options.memory_limit_bytes;
    state->limit_source = "option";
  } else {
    const memory::DefaultLimit limit =
        memory::default_limit(memory::probe_cgroup(), memory::probe_machine());
    state->limit_bytes = limit.bytes;
    state->limit_source = limit.source;
  }
  const std::uint64_t taken = options.limit_covers_process ? state->base_bytes : 0;
  state->root = memory::Budget::root(
      "process", state->limit_bytes - std::min(taken, state->limit_bytes), state->timeline);
  state->host = state->root->child("host");
  if (options.limit_covers_process) {
    state->measured = std::make_unique<MeasuredMemory>(state->root, process.resident_file_bytes);
  }
  state->timeline->begin_phase("import");
  state->options = std::move(options);
  state->add_growth(growth, state->unreserved);
  return Engine(std::move(state));
}

Model Engine::open(const std::string& path) const {
  auto model = std::make_shared<Model::State>();
  model->engine = state_;
  const UnreservedGrowth growth;
  model->graph = tensor::import_onnx(path);
  state_->add_growth(growth, model->unreserved);
  // Here nothing is refused: what does not fit is told by the plan.
  if (state_->measured != nullptr) {
    [[maybe_unused]] const auto refused = state_->measured->update();
  }
  model->weight_budget = state_->root->child("weights");
  model->weights = std::make_unique<tensor::WeightStore>(model->weight_budget);
  return Model(std::move(model));
}

std::expected<HostMemory, Refusal> Engine::allocate(std::uint64_t bytes,
                                                    std::string_view purpose) const {
  auto block = memory::Block::allocate(*state_->host, bytes, purpose);
  if (!block) return std::unexpected(std::move(block.error()));
  auto owner = std::make_shared<memory::Block>(std::move(*block));
  std::byte* data = owner->data();
  return HostMemory{std::shared_ptr<std::byte>(std::move(owner), data), bytes};
}

std::uint64_t Engine::limit_bytes() const {
  return state_->limit_bytes;
}
std::string Engine::limit_source() const {
  return state_->limit_source;
}
std::uint64_t Engine::base_bytes() const {
  return state_->base_bytes;
}
std::uint64_t Engine::reserved_bytes() const {
  return state_->root->used();
}
std::string Engine::target() const {
  return state_->target;
}
void Engine::cancel() const {
  state_->cancellations.fetch_add(1, std::memory_order_relaxed);
}

void Engine::begin_phase(std::string_view name) const {
  state_->timeline->begin_phase(name);
}

std::string Engine::explain_exhausted_heap() const {
  return memory::describe_exhausted_heap(*state_->root);
}

KernelMemory Engine::kernel_memory() {
  const memory::ProcessMemory process = memory::probe_process();
  KernelMemory result;
  result.peak_bytes = process.peak_resident_bytes;
  result.resident_bytes = process.resident_bytes;
  result.cgroup_peak_bytes = memory::probe_cgroup().peak_bytes.value_or(0);
  return result;
}

}  // namespace plimsoll
