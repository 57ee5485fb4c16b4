#include "wasm/binary/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace plimsoll::wasm {
namespace {

std::string describe_limits(const Limits& limits) {
  std::string text = limits.has_maximum ? fmt::format("{}..{}", limits.minimum, limits.maximum)
                                        : fmt::format("{}..", limits.minimum);
  return text;
}

std::string qualifiers(const Limits& limits) {
  return fmt::format("{}{}", limits.is_64 ? ", 64-bit" : "", limits.is_shared ? ", shared" : "");
}

}  // namespace

BodySizes body_sizes(const Module& module) {
  BodySizes sizes;
  for (std::size_t index = module.imported_functions; index < module.functions.size(); ++index) {
    const std::uint32_t bytes = module.functions[index].body.size;
    const int bucket =
        std::min<int>(std::bit_width(bytes == 0 ? 0U : bytes - 1), BodySizes::buckets - 1);
    ++sizes.count[static_cast<std::size_t>(bucket)];
    sizes.bytes[static_cast<std::size_t>(bucket)] += bytes;
    ++sizes.total_count;
    sizes.total_bytes += bytes;
  }
  return sizes;
}

std::vector<std::uint32_t> largest_bodies(const Module& module, std::size_t most) {
  std::vector<std::uint32_t> largest;
  const auto larger = [&module](std::uint32_t left, std::uint32_t right) {
    return module.functions[left].body.size > module.functions[right].body.size;
  };
  for (std::uint32_t index = module.imported_functions; index < module.functions.size(); ++index) {
    const auto place = std::upper_bound(largest.begin(), largest.end(), index, larger);
    if (place == largest.end() && largest.size() == most) continue;
    largest.insert(place, index);
    if (largest.size() > most) largest.pop_back();
  }
  return largest;
}

std::string_view export_name_of(const Module& module, std::uint32_t function) {
  for (const Export& entry : module.exports) {
    if (entry.kind == ExternalKind::function && entry.index == function) {
      return module.name(entry.name);
    }
  }
  return {};
}

std::string describe(const Module& module, ExternalKind kind, std::uint32_t index) {
  switch (kind) {
    case ExternalKind::function:
      return module.types.describe(module.functions[index].type);
    case ExternalKind::table: {
      const TableType& type = module.tables[index].type;
      return fmt::format("{} elements of {}{}", describe_limits(type.limits),
                         to_string(type.element), qualifiers(type.limits));
    }
    case ExternalKind::memory: {
      const Limits& limits = module.memories[index].limits;
      return fmt::format("{} pages{}", describe_limits(limits), qualifiers(limits));
    }
    case ExternalKind::global: {
      const GlobalType& type = module.globals[index].type;
      return fmt::format("{}{}", type.is_mutable ? "mut " : "", to_string(type.type));
    }
    case ExternalKind::tag:
      return module.types.describe(module.tags[index]);
  }
  return "?";
}

std::string_view section_name(std::uint8_t id) noexcept {
  constexpr std::array<std::string_view, 14> names = {
      "custom", "type",  "import",  "function", "table", "memory",     "global",
      "export", "start", "element", "code",     "data",  "data count", "tag"};
  return id < names.size() ? names[id] : "?";
}

}  // namespace plimsoll::wasm
