#include "wasm/binary/type_reader.h"

#include <fmt/format.h>

namespace plimsoll::wasm {
namespace {

constexpr bool is_abstract_code(std::uint8_t code) noexcept {
  return code >= 0x69 && code <= 0x74;
}

constexpr std::uint64_t most_pages_32 = 65'536;                   // 4 GiB
constexpr std::uint64_t most_pages_64 = std::uint64_t{1} << 48U;  // 2^64 bytes
constexpr std::uint64_t most_elements_32 = UINT32_MAX;

}  // namespace

std::uint32_t TypeReader::type_index() {
  const std::uint64_t offset = reader_.offset();
  const std::uint32_t index = reader_.u32("a type index");
  if (index >= known_types_) {
    fail_decode(offset, fmt::format("unknown type {}: there are {}", index, known_types_));
  }
  return index;
}

HeapType TypeReader::abstract_heap_type(std::uint8_t code, std::uint64_t offset) {
  const HeapType type = static_cast<HeapType::Abstract>(code);
  switch (type.abstract()) {
    case HeapType::function:
    case HeapType::external:
      features_.require(Feature::reference_types, offset, "a reference type");
      break;
    case HeapType::exception:
    case HeapType::no_exception:
      features_.require(Feature::exceptions, offset, "an exception reference");
      break;
    default:
      features_.require(Feature::gc, offset, "the heap type " + to_string(type));
      break;
  }
  return type;
}

HeapType TypeReader::heap_type() {
  const std::uint64_t offset = reader_.offset();
  const std::int64_t value = reader_.s33("a heap type");
  if (value >= 0) {
    features_.require(Feature::function_references, offset, "a reference to a defined type");
    if (value >= known_types_) {
      fail_decode(offset, fmt::format("unknown type {}: there are {}", value, known_types_));
    }
    const auto index = static_cast<std::uint32_t>(value);
    return HeapType::concrete(index < types_.size() ? types_[index].canonical : index);
  }
  if (value < -64 || !is_abstract_code(static_cast<std::uint8_t>(value & 0x7F))) {
    fail_decode(offset, "malformed heap type: expected a type index or an abstract heap type");
  }
  return abstract_heap_type(static_cast<std::uint8_t>(value & 0x7F), offset);
}

ValueType TypeReader::value_type(const char* what) {
  const std::uint64_t offset = reader_.offset();
  const std::uint8_t code = reader_.byte(what);
  switch (code) {
    case 0x7F:
      return i32_type;
    case 0x7E:
      return i64_type;
    case 0x7D:
      return f32_type;
    case 0x7C:
      return f64_type;
    case 0x7B:
      features_.require(Feature::simd, offset, "the type v128");
      return v128_type;
    case 0x64:
    case 0x63:
      features_.require(Feature::function_references, offset, "a typed reference");
      return ValueType::reference(heap_type(), code == 0x63);
    default:
      if (!is_abstract_code(code)) {
        fail_decode(offset, fmt::format("malformed value type {:#04x}: expected {}", code, what));
      }
      return ValueType::reference(abstract_heap_type(code, offset), true);
  }
}

ValueType TypeReader::reference_type(const char* what) {
  const std::uint64_t offset = reader_.offset();
  const ValueType type = value_type(what);
  if (!type.is_reference()) {
    fail_decode(offset,
                fmt::format("malformed reference type {}: expected {}", to_string(type), what));
  }
  return type;
}

Limits TypeReader::limits(bool of_memory) {
  const std::uint64_t offset = reader_.offset();
  const std::uint8_t flags = reader_.byte("limits flags");
  if (flags > 7 || (!of_memory && (flags & 2U) != 0)) {
    fail_decode(offset, fmt::format("malformed limits flags {:#04x}: expected at most {}", flags,
                                    of_memory ? "7" : "5, and not shared"));
  }
  Limits limits;
  limits.has_maximum = (flags & 1U) != 0;
  limits.is_shared = (flags & 2U) != 0;
  limits.is_64 = (flags & 4U) != 0;
  if (limits.is_shared) features_.require(Feature::threads, offset, "a shared memory");
  if (limits.is_64) features_.require(Feature::memory64, offset, "limits of 64 bits");
  const auto number = [&](const char* what) {
    return limits.is_64 || features_.allowed.has(Feature::memory64) ? reader_.u64(what)
                                                                    : reader_.u32(what);
  };
  limits.minimum = number("the minimum size");
  if (limits.has_maximum) limits.maximum = number("the maximum size");
  if (limits.is_shared && !limits.has_maximum) {
    fail_decode(offset, "a shared memory must have a maximum size");
  }
  const std::uint64_t most = of_memory ? (limits.is_64 ? most_pages_64 : most_pages_32)
                                       : (limits.is_64 ? UINT64_MAX : most_elements_32);
  if (limits.minimum > most || (limits.has_maximum && limits.maximum > most)) {
    fail_decode(offset, fmt::format("{} size must be at most {} {}", of_memory ? "memory" : "table",
                                    most, of_memory ? "pages" : "elements"));
  }
  if (limits.has_maximum && limits.minimum > limits.maximum) {
    fail_decode(offset, fmt::format("size minimum must not be greater than maximum: {} > {}",
                                    limits.minimum, limits.maximum));
  }
  return limits;
}

TableType TypeReader::table_type() {
  TableType type;
  const std::uint64_t offset = reader_.offset();
  if (!features_.allowed.has(Feature::reference_types)) {
    if (reader_.byte("the element type of a table") != 0x70) {
      fail_decode(offset, "malformed element type: expected funcref (0x70)");
    }
    type.element = funcref_type;
  } else if (reader_.peek("the element type of a table") == 0x70) {
    (void)reader_.byte("the element type of a table");
    type.element = funcref_type;  // what 1.0 has already
  } else {
    type.element = reference_type("the element type of a table");
  }
  type.limits = limits(false);
  return type;
}

MemoryType TypeReader::memory_type() {
  return {limits(true)};
}

GlobalType TypeReader::global_type() {
  GlobalType type;
  type.type = value_type("the type of a global");
  const std::uint64_t offset = reader_.offset();
  const std::uint8_t mutability = reader_.byte("the mutability of a global");
  if (mutability > 1) {
    fail_decode(offset, fmt::format("malformed mutability {:#04x}: expected 0 or 1", mutability));
  }
  type.is_mutable = mutability == 1;
  return type;
}

std::uint32_t TypeReader::tag_type() {
  const std::uint64_t offset = reader_.offset();
  features_.require(Feature::exceptions, offset, "a tag");
  if (reader_.byte("the attribute of a tag") != 0) {
    fail_decode(offset, "malformed attribute of a tag: expected 0 (exception)");
  }
  const std::uint64_t type_offset = reader_.offset();
  const std::uint32_t index = type_index();
  if (!types_.results(index).empty()) {
    fail_decode(type_offset, fmt::format("non-empty tag result type: {}", types_.describe(index)));
  }
  return index;
}

}  // namespace plimsoll::wasm
