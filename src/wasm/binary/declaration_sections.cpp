// The sections that declare what a module has: functions, tables, memories, tags, globals, exports,
// the start function and the number of data segments; and its imports.
#include <fmt/format.h>

#include <algorithm>

#include "wasm/binary/constant_expression.h"
#include "wasm/binary/implementation_limits.h"
#include "wasm/binary/sections.h"
#include "wasm/binary/type_reader.h"

namespace plimsoll::wasm {
namespace {

TypeReader types_of(ByteReader& reader, const Module& module, FeatureUse& features) {
  return {reader, features, module.types, module.types.size()};
}

/// A count that together with what is there stays below `most`.
std::uint32_t more_of(ByteReader& reader, std::size_t have, std::uint32_t most, const char* what) {
  const std::uint64_t offset = reader.offset();
  const std::uint32_t count = reader.count(most, what);
  if (count > most - have) {
    fail_decode(offset, fmt::format("{}: {} and {} imported are more than the {} that are accepted",
                                    what, count, have, most));
  }
  return count;
}

void check_several(const Module& module, FeatureUse& features, std::uint64_t offset) {
  if (module.memories.size() > 1) {
    features.require(Feature::multi_memory, offset, "more than one memory (multiple memories)");
  }
  if (module.tables.size() > 1) {
    features.require(Feature::reference_types, offset, "more than one table (multiple tables)");
  }
}

void require_room(std::size_t have, std::uint32_t most, std::uint64_t offset, const char* what) {
  if (have >= most) {
    fail_decode(offset, fmt::format("more {} than the {} that are accepted", what, most));
  }
}

std::uint32_t read_external(ByteReader& reader, Module& module, FeatureUse& features,
                            ExternalKind kind) {
  const std::uint64_t offset = reader.offset();
  TypeReader types = types_of(reader, module, features);
  switch (kind) {
    case ExternalKind::function:
      require_room(module.functions.size(), limits::functions, offset, "functions");
      module.functions.push_back({.type = types.type_index(), .body = {}});
      return module.imported_functions++;
    case ExternalKind::table:
      require_room(module.tables.size(), limits::tables, offset, "tables");
      module.tables.push_back({.type = types.table_type(), .initial = {}});
      return module.imported_tables++;
    case ExternalKind::memory:
      require_room(module.memories.size(), limits::memories, offset, "memories");
      module.memories.push_back(types.memory_type());
      return module.imported_memories++;
    case ExternalKind::global:
      require_room(module.globals.size(), limits::globals, offset, "globals");
      module.globals.push_back({.type = types.global_type(), .initial = {}});
      return module.imported_globals++;
    case ExternalKind::tag:
      require_room(module.tags.size(), limits::tags, offset, "tags");
      module.tags.push_back(types.tag_type());
      return module.imported_tags++;
  }
  return 0;
}

ExternalKind read_kind(ByteReader& reader, FeatureUse& features, const char* what) {
  const std::uint64_t offset = reader.offset();
  const std::uint8_t code = reader.byte(what);
  if (code > static_cast<std::uint8_t>(ExternalKind::tag)) {
    fail_decode(offset, fmt::format("malformed {} kind {:#04x}: expected 0 to 4", what, code));
  }
  const auto kind = static_cast<ExternalKind>(code);
  if (kind == ExternalKind::tag) features.require(Feature::exceptions, offset, "a tag");
  return kind;
}

std::size_t number_of(const Module& module, ExternalKind kind) {
  switch (kind) {
    case ExternalKind::function:
      return module.functions.size();
    case ExternalKind::table:
      return module.tables.size();
    case ExternalKind::memory:
      return module.memories.size();
    case ExternalKind::global:
      return module.globals.size();
    case ExternalKind::tag:
      return module.tags.size();
  }
  return 0;
}

void refuse_equal_names(ByteReader& reader, const Module& module) {
  // Ranges sorted by what they name: equal ones become neighbours. Sorted in a copy, since the
  // order of the file is what `inspect` and embedders see.
  BudgetedVector<Export> sorted = module.exports.copy();
  std::sort(sorted.data(), sorted.data() + sorted.size(),
            [&module](const Export& left, const Export& right) {
              return module.name(left.name) < module.name(right.name);
            });
  for (std::size_t index = 1; index < sorted.size(); ++index) {
    if (module.name(sorted[index - 1].name) == module.name(sorted[index].name)) {
      reader.fail(fmt::format("duplicate export name '{}'", module.name(sorted[index].name)));
    }
  }
}

}  // namespace

void read_import_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint32_t count = reader.count(limits::imports, "the number of imports");
  module.imports.reserve(count);
  for (std::uint32_t index = 0; index < count; ++index) {
    Import import;
    import.module = module.add_name(reader.name("the module name of an import"));
    import.field = module.add_name(reader.name("the name of an import"));
    import.kind = read_kind(reader, features, "import");
    import.index = read_external(reader, module, features, import.kind);
    module.imports.push_back(import);
  }
  check_several(module, features, reader.offset());
}

void read_function_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint32_t count =
      more_of(reader, module.functions.size(), limits::functions, "the number of functions");
  module.functions.reserve(module.functions.size() + count);
  for (std::uint32_t index = 0; index < count; ++index) {
    module.functions.push_back(
        {.type = types_of(reader, module, features).type_index(), .body = {}});
  }
}

void read_table_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint32_t count =
      more_of(reader, module.tables.size(), limits::tables, "the number of tables");
  for (std::uint32_t index = 0; index < count; ++index) {
    const std::uint64_t offset = reader.offset();
    Table table;
    const bool has_initial = reader.peek("a table type") == 0x40;
    if (has_initial) {
      (void)reader.byte("a table type");
      features.require(Feature::function_references, offset, "a table with an initial value");
      if (reader.byte("a table type") != 0) {
        fail_decode(offset, "malformed table: expected a zero byte after 0x40");
      }
    }
    table.type = types_of(reader, module, features).table_type();
    if (has_initial) {
      table.initial = take_constant_expression(reader, module, features, table.type.element);
    } else if (!table.type.element.is_defaultable()) {
      fail_decode(offset, fmt::format("type mismatch: a table of {} needs an initial value",
                                      to_string(table.type.element)));
    }
    module.tables.push_back(table);
  }
  check_several(module, features, reader.offset());
}

void read_memory_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint32_t count =
      more_of(reader, module.memories.size(), limits::memories, "the number of memories");
  for (std::uint32_t index = 0; index < count; ++index) {
    module.memories.push_back(types_of(reader, module, features).memory_type());
  }
  check_several(module, features, reader.offset());
}

void read_tag_section(ByteReader& reader, Module& module, FeatureUse& features) {
  features.require(Feature::exceptions, reader.offset(), "the tag section");
  const std::uint32_t count =
      more_of(reader, module.tags.size(), limits::tags, "the number of tags");
  for (std::uint32_t index = 0; index < count; ++index) {
    module.tags.push_back(types_of(reader, module, features).tag_type());
  }
}

void read_global_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint32_t count =
      more_of(reader, module.globals.size(), limits::globals, "the number of globals");
  module.globals.reserve(module.globals.size() + count);
  for (std::uint32_t index = 0; index < count; ++index) {
    Global global;
    global.type = types_of(reader, module, features).global_type();
    global.initial = take_constant_expression(reader, module, features, global.type.type);
    module.globals.push_back(global);
  }
}

void read_export_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint32_t count = reader.count(limits::exports, "the number of exports");
  module.exports.reserve(count);
  for (std::uint32_t index = 0; index < count; ++index) {
    Export entry;
    entry.name = module.add_name(reader.name("the name of an export"));
    entry.kind = read_kind(reader, features, "export");
    const std::uint64_t offset = reader.offset();
    entry.index = reader.u32("the index of an export");
    if (entry.index >= number_of(module, entry.kind)) {
      fail_decode(offset, fmt::format("unknown {} {}: there are {}", external_kind_name(entry.kind),
                                      entry.index, number_of(module, entry.kind)));
    }
    if (entry.kind == ExternalKind::function) module.declare(entry.index);
    module.exports.push_back(entry);
  }
  refuse_equal_names(reader, module);
}

void read_start_section(ByteReader& reader, Module& module, FeatureUse& /*features*/) {
  const std::uint64_t offset = reader.offset();
  const std::uint32_t index = reader.u32("the index of the start function");
  if (index >= module.functions.size()) {
    fail_decode(offset,
                fmt::format("unknown function {}: there are {}", index, module.functions.size()));
  }
  const std::uint32_t type = module.functions[index].type;
  if (!module.types.parameters(type).empty() || !module.types.results(type).empty()) {
    fail_decode(offset, fmt::format("start function {} must be () -> (), it is {}", index,
                                    module.types.describe(type)));
  }
  module.start_function = index;
}

void read_data_count_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint64_t offset = reader.offset();
  features.require(Feature::bulk_memory, offset, "the data count section");
  const std::uint32_t count = reader.u32("the number of data segments");
  if (count > limits::data_segments) {
    fail_decode(offset, fmt::format("{} data segments are more than the {} that are accepted",
                                    count, limits::data_segments));
  }
  module.data_count = count;
}

}  // namespace plimsoll::wasm
