#include "wasm/runtime/instance.h"

#include <algorithm>
#include <cstring>

#include "wasm/binary/byte_reader.h"
#include "wasm/runtime/builtins.h"

namespace plimsoll::wasm {

Instance::Instance(Store& store, std::shared_ptr<const CodeModule> code)
    : store_(&store), code_(std::move(code)) {}

std::expected<Instance::Outcome, Refusal> Instance::create(Store& store,
                                                           std::shared_ptr<const CodeModule> code,
                                                           std::span<const External> imports) {
  std::unique_ptr<Instance> made(new Instance(store, std::move(code)));
  made->bind_imports(imports);
  if (auto memories = made->make_memories(); !memories) {
    return std::unexpected(std::move(memories.error()));
  }
  made->fill_context();
  made->make_globals();
  made->fill_context();
  if (auto tables = made->make_tables(); !tables) {
    return std::unexpected(std::move(tables.error()));
  }
  made->fill_context();
  // From here on others may hold references into it, whatever happens.
  Instance* instance = store.add_instance(std::move(made));
  TrapKind trap = instance->place_elements();
  if (trap == TrapKind::none) trap = instance->place_data();
  const std::uint32_t start = instance->code_->module().start_function;
  if (trap == TrapKind::none && start != no_index) {
    trap = store.call(*instance->functions_[start], {}).trap;
  }
  if (trap != TrapKind::none) return Outcome{.instance = nullptr, .trap = trap};
  return Outcome{.instance = instance, .trap = trap};
}

void Instance::make_functions() {
  const Module& module = code_->module();
  TypeRegistry& types = code_->engine()->types();
  functions_.resize(module.functions.size());
  std::size_t wanted = 0;
  const auto is_wanted = [&](std::uint32_t index) {
    return module.is_declared(index) || index == module.start_function;
  };
  for (std::uint32_t index = module.imported_functions; index < module.functions.size(); ++index) {
    if (is_wanted(index)) ++wanted;
  }
  own_functions_.reserve(wanted);
  for (std::uint32_t index = module.imported_functions; index < module.functions.size(); ++index) {
    if (!is_wanted(index)) continue;
    const std::uint32_t identity = code_->type_identities()[module.functions[index].type];
    chains_.push_back(types.chain(identity));
    own_functions_.push_back({.slot = code_->code_table() + index,
                              .context = &context_,
                              .supertypes = chains_.back()->data(),
                              .type = identity,
                              .depth = static_cast<std::uint32_t>(chains_.back()->size() - 1)});
    functions_[index] = &own_functions_.back();
  }
}

std::expected<void, Refusal> Instance::make_memories() {
  const Module& module = code_->module();
  for (std::size_t index = module.imported_memories; index < module.memories.size(); ++index) {
    auto memory = store_->add_memory(module.memories[index]);
    if (!memory) return std::unexpected(std::move(memory.error()));
    memories_.push_back(*memory);
  }
  for (GuestMemory* memory : memories_) memory_views_.push_back(&memory->view());
  return {};
}

std::expected<void, Refusal> Instance::make_tables() {
  const Module& module = code_->module();
  for (std::size_t index = module.imported_tables; index < module.tables.size(); ++index) {
    const Table& declared = module.tables[index];
    TableType type = declared.type;
    type.element = TypeRegistry::shared(type.element, code_->type_identities());
    const std::uint64_t initial =
        declared.initial.size == 0 ? 0 : evaluate(module.expression(declared.initial)).low;
    auto table = store_->add_table(type, initial);
    if (!table) return std::unexpected(std::move(table.error()));
    tables_.push_back(*table);
  }
  for (GuestTable* table : tables_) table_views_.push_back(&table->view);
  return {};
}

void Instance::make_globals() {
  const Module& module = code_->module();
  for (GuestGlobal* global : globals_) global_cells_.push_back(&global->cell);
  global_cells_.reserve(module.globals.size());
  for (std::size_t index = module.imported_globals; index < module.globals.size(); ++index) {
    context_.globals = global_cells_.data();  // those before it may be read
    const Global& declared = module.globals[index];
    GlobalType type = declared.type;
    type.type = TypeRegistry::shared(type.type, code_->type_identities());
    globals_.push_back(store_->add_global(type, evaluate(module.expression(declared.initial))));
    global_cells_.push_back(&globals_.back()->cell);
  }
  for (std::size_t index = module.imported_tags; index < module.tags.size(); ++index) {
    tags_.push_back(store_->add_tag(code_->type_identities()[module.tags[index]]));
  }
}

void Instance::fill_context() {
  context_.store = store_->context();
  context_.code_table = code_->code_table();
  context_.memory0 = memory_views_.empty() ? nullptr : memory_views_[0];
  context_.functions = functions_.data();
  context_.globals = global_cells_.data();
  context_.tables = table_views_.data();
  context_.memories = memory_views_.data();
  context_.types = code_->type_identities().data();
  context_.builtins = &builtins();
  context_.instance = this;
}

std::vector<std::uint64_t> Instance::element_values(const ElementSegment& segment) const {
  std::vector<std::uint64_t> values;
  const std::span<const std::byte> bytes = code_->module().expression(segment.items);
  ByteReader reader(bytes, 0, "element segment");
  for (std::uint32_t item = 0; item < segment.count; ++item) {
    if (!segment.are_expressions) {
      values.push_back(reinterpret_cast<std::uint64_t>(functions_[reader.u32("a function index")]));
      continue;
    }
    std::size_t used = 0;
    values.push_back(evaluate_constant(bytes.subspan(reader.consumed()), *this, used).low);
    (void)reader.bytes(used, "an expression");
  }
  return values;
}

TrapKind Instance::place_elements() {
  const Module& module = code_->module();
  elements_.resize(module.elements.size());
  for (std::size_t index = 0; index < elements_.size(); ++index) {
    const ElementSegment& segment = module.elements[index];
    if (segment.mode == ElementSegment::Mode::passive) elements_[index] = element_values(segment);
  }
  for (const ElementSegment& segment : module.elements) {
    if (segment.mode != ElementSegment::Mode::active) continue;
    GuestTable& table = *tables_[segment.table];
    std::uint64_t offset = evaluate(module.expression(segment.offset)).low;
    if (!table.type.limits.is_64) offset = static_cast<std::uint32_t>(offset);
    const std::vector<std::uint64_t> values = element_values(segment);
    if (offset > table.view.size || values.size() > table.view.size - offset) {
      return TrapKind::table_out_of_bounds;
    }
    std::copy(values.begin(), values.end(), table.view.elements + offset);
  }
  return TrapKind::none;
}

TrapKind Instance::place_data() {
  const Module& module = code_->module();
  is_data_dropped_.resize(module.data.size());
  for (std::uint32_t index = 0; index < module.data.size(); ++index) {
    const DataSegment& segment = module.data[index];
    if (!segment.is_active) continue;
    const MemoryView& view = memories_[segment.memory]->view();
    std::uint64_t offset = evaluate(module.expression(segment.offset)).low;
    if (!module.memories[segment.memory].limits.is_64) offset = static_cast<std::uint32_t>(offset);
    const std::span<const std::byte> bytes = code_->data(index);
    if (offset > view.bytes || bytes.size() > view.bytes - offset) {
      return TrapKind::memory_out_of_bounds;
    }
    if (!bytes.empty()) std::memcpy(view.base + offset, bytes.data(), bytes.size());
    drop_data(index);
  }
  return TrapKind::none;
}

std::span<const std::byte> Instance::data_segment(std::uint32_t index) const noexcept {
  if (is_data_dropped_[index]) return {};
  return code_->data(index);
}

std::int64_t Instance::grow_table(std::uint32_t index, std::uint64_t value,
                                  std::uint64_t count) noexcept {
  return store_->grow_table(*tables_[index], value, count);
}

Cell Instance::evaluate(std::span<const std::byte> expression) const {
  std::size_t used = 0;
  return evaluate_constant(expression, *this, used);
}

External Instance::external(ExternalKind kind, std::uint32_t index) const {
  switch (kind) {
    case ExternalKind::function:
      return functions_[index];
    case ExternalKind::table:
      return tables_[index];
    case ExternalKind::memory:
      return memories_[index];
    case ExternalKind::global:
      return globals_[index];
    case ExternalKind::tag:
      return tags_[index];
  }
  return functions_[index];
}

std::optional<External> Instance::find_export(std::string_view name) const {
  const Module& module = code_->module();
  for (const Export& entry : module.exports) {
    if (module.name(entry.name) == name) return external(entry.kind, entry.index);
  }
  return std::nullopt;
}

}  // namespace plimsoll::wasm
