#include "tensor/archive/archive_type.h"

#include <array>
#include <cstddef>

#include "plimsoll/archive.h"

namespace plimsoll::tensor {
namespace {

// In the order of the enumeration.
constexpr std::array<ArchiveTypeFacts, 49> table = {{
    {"", 1, 0},          {"f64", 1, 8},        {"f32", 1, 4},         {"f16", 1, 2},
    {"bf16", 1, 2},      {"i64", 1, 8},        {"i32", 1, 4},         {"i16", 1, 2},
    {"i8", 1, 1},        {"u64", 1, 8},        {"u32", 1, 4},         {"u16", 1, 2},
    {"u8", 1, 1},        {"bool", 1, 1},       {"c64", 1, 8},         {"f8_e5m2", 1, 1},
    {"f8_e4m3", 1, 1},   {"f8_e8m0", 1, 1},    {"f8_e4m3fnuz", 1, 1}, {"f8_e5m2fnuz", 1, 1},
    {"f6_e2m3", 4, 3},   {"f6_e3m2", 4, 3},    {"f4", 2, 1},          {"q4_0", 32, 18},
    {"q4_1", 32, 20},    {"q5_0", 32, 22},     {"q5_1", 32, 24},      {"q8_0", 32, 34},
    {"q8_1", 32, 36},    {"q2_k", 256, 84},    {"q3_k", 256, 110},    {"q4_k", 256, 144},
    {"q5_k", 256, 176},  {"q6_k", 256, 210},   {"q8_k", 256, 292},    {"iq2_xxs", 256, 66},
    {"iq2_xs", 256, 74}, {"iq3_xxs", 256, 98}, {"iq1_s", 256, 50},    {"iq4_nl", 32, 18},
    {"iq3_s", 256, 110}, {"iq2_s", 256, 82},   {"iq4_xs", 256, 136},  {"iq1_m", 256, 56},
    {"tq1_0", 256, 54},  {"tq2_0", 256, 66},   {"mxfp4", 32, 17},     {"nvfp4", 64, 36},
    {"q1_0", 128, 18},
}};
static_assert(table.size() == static_cast<std::size_t>(ArchiveType::q1_0) + 1);

}  // namespace

const ArchiveTypeFacts& facts_of(ArchiveType type) noexcept {
  return table[static_cast<std::size_t>(type)];
}

std::optional<ArchiveType> archive_type_from_name(std::string_view name) noexcept {
  if (name.empty()) return std::nullopt;
  for (std::size_t index = 0; index < table.size(); ++index) {
    if (table[index].name == name) return static_cast<ArchiveType>(index);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> archive_bytes(ArchiveType type, const Shape& shape) {
  const ArchiveTypeFacts& facts = facts_of(type);
  const std::int64_t last = shape.rank() == 0 ? 1 : shape.back();
  if (last % std::int64_t{facts.block_elements} != 0) return std::nullopt;
  const std::uint64_t blocks = static_cast<std::uint64_t>(shape.elements()) / facts.block_elements;
  if (blocks > (std::uint64_t{1} << 62) / facts.block_bytes) return std::nullopt;
  return blocks * facts.block_bytes;
}

}  // namespace plimsoll::tensor

namespace plimsoll {

std::string_view archive_format_name(ArchiveFormat format) noexcept {
  switch (format) {
    case ArchiveFormat::irpa:
      return "irpa";
    case ArchiveFormat::safetensors:
      return "safetensors";
    case ArchiveFormat::gguf:
      return "gguf";
  }
  return "";
}

std::string_view archive_entry_kind_name(ArchiveEntryKind kind) noexcept {
  switch (kind) {
    case ArchiveEntryKind::data:
      return "data";
    case ArchiveEntryKind::splat:
      return "splat";
    case ArchiveEntryKind::external:
      return "external";
  }
  return "";
}

}  // namespace plimsoll
