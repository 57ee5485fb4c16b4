// Binding imports: what is given must be what is declared.
#include <fmt/format.h>

#include "plimsoll/error.h"
#include "wasm/runtime/instance.h"

namespace plimsoll::wasm {
namespace {

[[noreturn]] void fail_import(const Module& module, const Import& import, const char* why) {
  fail_input(fmt::format("incompatible import type: {} '{}'.'{}' {}",
                         external_kind_name(import.kind), module.name(import.module),
                         module.name(import.field), why));
}

bool limits_match(const Limits& wanted, const Limits& given, std::uint64_t size) {
  if (given.is_64 != wanted.is_64 || given.is_shared != wanted.is_shared) return false;
  if (size < wanted.minimum) return false;
  return !wanted.has_maximum || (given.has_maximum && given.maximum <= wanted.maximum);
}

bool same_type(const TypeRegistry& types, ValueType left, ValueType right) {
  return types.is_subtype(left, right) && types.is_subtype(right, left);
}

}  // namespace

void Instance::bind_imports(std::span<const External> imports) {
  const Module& module = code_->module();
  if (imports.size() != module.imports.size()) {
    throw Error(ErrorKind::usage, fmt::format("{} imports are given and {} are declared",
                                              imports.size(), module.imports.size()));
  }
  for (std::size_t index = 0; index < imports.size(); ++index) {
    bind_import(module.imports[index], imports[index]);
  }
  // Imported functions come first in the index space.
  const std::vector<FunctionRecord*> imported = functions_;
  make_functions();
  std::copy(imported.begin(), imported.end(), functions_.begin());
}

void Instance::bind_import(const Import& import, const External& given) {
  const Module& module = code_->module();
  const TypeRegistry& types = code_->engine()->types();
  const auto& identities = code_->type_identities();
  if (given.index() != static_cast<std::size_t>(import.kind)) {
    fail_import(module, import, "is something else");
  }
  switch (import.kind) {
    case ExternalKind::function: {
      FunctionRecord* function = std::get<FunctionRecord*>(given);
      const std::uint32_t wanted = identities[module.functions[import.index].type];
      if (!types.is_subtype(function->type, wanted))
        fail_import(module, import, "has another type");
      functions_.push_back(function);
      return;
    }
    case ExternalKind::table: {
      GuestTable* table = std::get<GuestTable*>(given);
      const TableType& wanted = module.tables[import.index].type;
      if (!same_type(types, table->type.element,
                     TypeRegistry::shared(wanted.element, identities)) ||
          !limits_match(wanted.limits, table->type.limits, table->view.size)) {
        fail_import(module, import, "has other elements or limits");
      }
      tables_.push_back(table);
      return;
    }
    case ExternalKind::memory: {
      GuestMemory* memory = std::get<GuestMemory*>(given);
      if (!limits_match(module.memories[import.index].limits, memory->type().limits,
                        memory->pages())) {
        fail_import(module, import, "has other limits");
      }
      memories_.push_back(memory);
      return;
    }
    case ExternalKind::global: {
      GuestGlobal* global = std::get<GuestGlobal*>(given);
      const GlobalType& wanted = module.globals[import.index].type;
      const ValueType type = TypeRegistry::shared(wanted.type, identities);
      const bool matches = wanted.is_mutable ? same_type(types, global->type.type, type)
                                             : types.is_subtype(global->type.type, type);
      if (global->type.is_mutable != wanted.is_mutable || !matches) {
        fail_import(module, import, "has another type");
      }
      globals_.push_back(global);
      return;
    }
    case ExternalKind::tag: {
      GuestTag* tag = std::get<GuestTag*>(given);
      if (tag->type != identities[module.tags[import.index]]) {
        fail_import(module, import, "has another type");
      }
      tags_.push_back(tag);
      return;
    }
  }
}

}  // namespace plimsoll::wasm
