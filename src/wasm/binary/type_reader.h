// Reads types where the binary format writes them. Why it exists: sections, constant expressions
// and bodies read the same types under the same rules. May touch: module.h, byte_reader.h.
#pragma once

#include "wasm/binary/byte_reader.h"
#include "wasm/binary/features.h"
#include "wasm/binary/module.h"

namespace plimsoll::wasm {

/// Reads types of one module. References to defined types are checked and become canonical.
class TypeReader {
 public:
  /// `known_types` is how many types may be named here: all of them outside the type section.
  TypeReader(ByteReader& reader, FeatureUse& features, const TypeTable& types,
             std::uint32_t known_types) noexcept
      : reader_(reader), features_(features), types_(types), known_types_(known_types) {}

  [[nodiscard]] ValueType value_type(const char* what);
  /// A value type that is a reference.
  [[nodiscard]] ValueType reference_type(const char* what);
  [[nodiscard]] HeapType heap_type();
  /// Checked, and as written: not canonical.
  [[nodiscard]] std::uint32_t type_index();

  [[nodiscard]] TableType table_type();
  [[nodiscard]] MemoryType memory_type();
  [[nodiscard]] GlobalType global_type();
  /// Attribute byte and type index; the type has no results.
  [[nodiscard]] std::uint32_t tag_type();

 private:
  [[nodiscard]] Limits limits(bool of_memory);
  [[nodiscard]] HeapType abstract_heap_type(std::uint8_t code, std::uint64_t offset);

  ByteReader& reader_;
  FeatureUse& features_;
  const TypeTable& types_;
  std::uint32_t known_types_;
};

}  // namespace plimsoll::wasm
