#include "wasm/runtime/store.h"

#include <pthread.h>

#include <algorithm>

#include "plimsoll/error.h"
#include "wasm/runtime/instance.h"
#include "wasm/runtime/signals.h"

namespace plimsoll::wasm {
namespace {

/// Below what guests may use: frames of host calls, and half for frames whose size is not compared.
constexpr std::uint64_t stack_reserve_bytes = 128 * 1024;

/// The limit that the WebAssembly JavaScript API prescribes.
constexpr std::uint64_t most_table_elements = 10'000'000;

bool is_vector_class(ValueType type) {
  return type == f32_type || type == f64_type || type == v128_type;
}

/// Runs through parameters or results as docs/guest-abi.md places them: `place(index, cell pointer
/// or register number)`.
struct Placement {
  std::size_t numbers = 0;
  std::size_t vectors = 0;
  std::size_t further = 0;
};

/// The lowest address that guests may use of this thread's stack.
std::uint64_t end_of_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) {
    throw Error(ErrorKind::failure, "the bounds of this thread's stack are not to be had");
  }
  void* lowest = nullptr;
  std::size_t bytes = 0;
  std::size_t guard = 0;
  ::pthread_attr_getstack(&attributes, &lowest, &bytes);
  ::pthread_attr_getguardsize(&attributes, &guard);
  ::pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest) + guard + stack_reserve_bytes;
}

class ActivationScope {
 public:
  ActivationScope(StoreContext* store, Activation& activation)
      : store_(store), before_(running_store()), previous_limit_(store->stack_limit) {
    activation.previous = store->activation;
    store->activation = &activation;
    set_running_store(store);
  }
  ActivationScope(const ActivationScope&) = delete;
  ActivationScope& operator=(const ActivationScope&) = delete;
  ~ActivationScope() {
    store_->activation = store_->activation->previous;
    set_running_store(before_);
    if (store_->activation != nullptr) store_->stack_limit = previous_limit_;
  }

 private:
  StoreContext* store_;
  StoreContext* before_;
  std::uint64_t previous_limit_;
};

}  // namespace

struct Store::HostFunction {
  HostContext context;  // first: r12 points to it
  Store* store = nullptr;
  HostCallback callback;
  std::vector<ValueType> parameters;
  std::vector<ValueType> results;
  FunctionRecord record;
  std::shared_ptr<const std::vector<std::uint32_t>> chain;
};

Store::Store(std::shared_ptr<Engine> engine, std::uint64_t stack_bytes)
    : engine_(std::move(engine)),
      context_(std::make_unique<StoreContext>()),
      stack_bytes_(stack_bytes) {}

Store::~Store() = default;

FunctionRecord* Store::add_host_function(std::span<const ValueType> parameters,
                                         std::span<const ValueType> results,
                                         HostCallback callback) {
  // One type, interned as a module would.
  TypeTable types(memory::Budget::root("host function", memory::Budget::unlimited));
  types.begin_group(1);
  for (const ValueType type : parameters) types.add_value(type);
  for (const ValueType type : results) types.add_value(type);
  types.add_type(static_cast<std::uint32_t>(parameters.size()),
                 static_cast<std::uint32_t>(results.size()), no_index, true);
  types.end_group();
  auto host = std::make_unique<HostFunction>();
  host->context = {.store = context_.get(), .entry = enter_host};
  host->store = this;
  host->callback = std::move(callback);
  host->parameters.assign(parameters.begin(), parameters.end());
  host->results.assign(results.begin(), results.end());
  host->record.slot = engine_->stubs().host_call_slot();
  host->record.context = reinterpret_cast<InstanceContext*>(&host->context);
  host->record.type = engine_->types().intern(types).front();
  host->chain = engine_->types().chain(host->record.type);
  host->record.supertypes = host->chain->data();
  host->record.depth = static_cast<std::uint32_t>(host->chain->size() - 1);
  host_functions_.push_back(std::move(host));
  return &host_functions_.back()->record;
}

std::uint64_t Store::enter_host(HostContext* context, CallFrame* frame) noexcept {
  auto& host = *reinterpret_cast<HostFunction*>(context);
  StoreContext& store = *context->store;
  try {
    std::vector<Cell> arguments(host.parameters.size());
    std::vector<Cell> results(host.results.size());
    Placement from;
    for (std::size_t index = 0; index < arguments.size(); ++index) {
      if (is_vector_class(host.parameters[index])) {
        arguments[index] = from.vectors < CallFrame::vector_registers
                               ? frame->vectors[from.vectors++]
                               : store.area[from.further++];
      } else {
        arguments[index] = from.numbers < CallFrame::number_registers
                               ? Cell{frame->numbers[from.numbers++], 0}
                               : store.area[from.further++];
      }
    }
    const TrapKind trap = host.callback(arguments, results);
    if (trap != TrapKind::none) {
      store.activation->trap_kind = static_cast<std::uint32_t>(trap);
      return 1;
    }
    Placement into;
    for (std::size_t index = 0; index < results.size(); ++index) {
      if (is_vector_class(host.results[index])) {
        (into.vectors++ == 0 ? frame->vector_result : store.area[into.further++]) = results[index];
      } else if (into.numbers++ == 0) {
        frame->number_result = results[index].low;
      } else {
        store.area[into.further++] = results[index];
      }
    }
    return 0;
  } catch (...) {
    // Guests' frames are not unwound: it waits until the call into the guest has returned.
    host.store->host_exception_ = std::current_exception();
    store.activation->trap_kind = static_cast<std::uint32_t>(TrapKind::recorded);
    return 1;
  }
}

std::expected<GuestMemory*, Refusal> Store::add_memory(const MemoryType& type) {
  auto memory =
      GuestMemory::create(engine_->budget(), type, !engine_->settings().compile.explicit_bounds);
  if (!memory) return std::unexpected(std::move(memory.error()));
  if (!(*memory)->has_guard() && !type.limits.is_64 &&
      !engine_->settings().compile.explicit_bounds) {
    Refusal refusal;
    refusal.budget = engine_->budget()->path();
    refusal.purpose = "address space for the guard of a guest's memory (explicit bounds need none)";
    refusal.requested_bytes = guarded_bytes;
    refusal.by_kernel = true;
    return std::unexpected(std::move(refusal));
  }
  memories_.push_back(std::move(*memory));
  return memories_.back().get();
}

std::expected<GuestTable*, Refusal> Store::add_table(const TableType& type, std::uint64_t initial) {
  const std::uint64_t count = std::min(type.limits.minimum, most_table_elements);
  auto claim = engine_->budget()->reserve(count * sizeof(std::uint64_t), "table of the guest");
  if (!claim) return std::unexpected(std::move(claim.error()));
  if (count != type.limits.minimum) {
    Refusal refusal;
    refusal.budget = engine_->budget()->path();
    refusal.purpose = "table of the guest";
    refusal.requested_bytes = UINT64_MAX;
    return std::unexpected(std::move(refusal));
  }
  auto table = std::make_unique<GuestTable>();
  table->type = type;
  table->elements.assign(count, initial);
  table->view = {.elements = table->elements.data(), .size = table->elements.size()};
  table->claim = std::move(*claim);
  tables_.push_back(std::move(table));
  return tables_.back().get();
}

std::int64_t Store::grow_table(GuestTable& table, std::uint64_t value,
                               std::uint64_t count) noexcept {
  const std::uint64_t before = table.view.size;
  const Limits& limits = table.type.limits;
  const std::uint64_t most =
      limits.has_maximum ? std::min(most_table_elements, limits.maximum) : most_table_elements;
  if (before > most || count > most - before) return -1;
  if (count == 0) return static_cast<std::int64_t>(before);
  try {
    // The old elements and the new ones are there at once while they are copied.
    const std::uint64_t bytes = (before + count) * sizeof(std::uint64_t);
    auto claim = engine_->budget()->reserve(bytes, "table of the guest");
    if (!claim) return -1;
    std::vector<std::uint64_t> elements;
    elements.reserve(before + count);
    elements.assign(table.elements.begin(), table.elements.end());
    elements.resize(before + count, value);
    table.elements = std::move(elements);
    table.view = {.elements = table.elements.data(), .size = table.elements.size()};
    table.claim = std::move(*claim);
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return static_cast<std::int64_t>(before);
}

GuestGlobal* Store::add_global(const GlobalType& type, Cell value) {
  globals_.push_back(std::make_unique<GuestGlobal>(GuestGlobal{.type = type, .cell = value}));
  return globals_.back().get();
}

GuestTag* Store::add_tag(std::uint32_t type) {
  tags_.push_back(std::make_unique<GuestTag>(GuestTag{.type = type}));
  return tags_.back().get();
}

Instance* Store::add_instance(std::unique_ptr<Instance> instance) {
  instances_.push_back(std::move(instance));
  return instances_.back().get();
}

void Store::set_stack_limit() {
  // Asked of the system once for each thread: it reads the list of mappings for the first one.
  thread_local const std::uint64_t end_of_thread = end_of_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  context_->stack_limit =
      std::max(here - std::min<std::uint64_t>(here, stack_bytes_), end_of_thread);
}

std::span<const ValueType> Store::parameters_of(const FunctionRecord& function) const {
  for (const auto& host : host_functions_) {
    if (&host->record == &function) return host->parameters;
  }
  const Instance& instance = *function.context->instance;
  const auto index = static_cast<std::uint32_t>(function.slot - function.context->code_table);
  const Module& module = instance.code().module();
  return module.types.parameters(module.functions[index].type);
}

std::span<const ValueType> Store::results_of(const FunctionRecord& function) const {
  for (const auto& host : host_functions_) {
    if (&host->record == &function) return host->results;
  }
  const Instance& instance = *function.context->instance;
  const auto index = static_cast<std::uint32_t>(function.slot - function.context->code_table);
  const Module& module = instance.code().module();
  return module.types.results(module.functions[index].type);
}

CallOutcome Store::call(const FunctionRecord& function, std::span<const Cell> arguments) {
  const auto parameters = parameters_of(function);
  const auto results = results_of(function);
  CallFrame frame;
  Placement into;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    if (is_vector_class(parameters[index])) {
      (into.vectors < CallFrame::vector_registers ? frame.vectors[into.vectors++]
                                                  : context_->area[into.further++]) =
          arguments[index];
    } else if (into.numbers < CallFrame::number_registers) {
      frame.numbers[into.numbers++] = arguments[index].low;
    } else {
      context_->area[into.further++] = arguments[index];
    }
  }
  if (context_->activation == nullptr) set_stack_limit();
  Activation activation;
  activation.trap_exit = engine_->stubs().trap_exit();
  CallOutcome outcome;
  {
    const ActivationScope scope(context_.get(), activation);
    if (engine_->stubs().enter()(&frame, *function.slot, function.context, &activation) != 0) {
      outcome.trap = static_cast<TrapKind>(activation.trap_kind);
    }
  }
  if (host_exception_ != nullptr) std::rethrow_exception(std::exchange(host_exception_, nullptr));
  if (outcome.trap != TrapKind::none) return outcome;
  Placement from;
  for (const ValueType result : results) {
    if (is_vector_class(result)) {
      outcome.results.push_back(from.vectors++ == 0 ? frame.vector_result
                                                    : context_->area[from.further++]);
    } else {
      outcome.results.push_back(from.numbers++ == 0 ? Cell{frame.number_result, 0}
                                                    : context_->area[from.further++]);
    }
  }
  return outcome;
}

}  // namespace plimsoll::wasm
