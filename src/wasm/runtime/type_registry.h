// Types shared by all modules of an engine. Why it exists: a call through a table may cross
// modules, so the check compares identities that mean the same everywhere. May touch:
// binary/type_table.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "wasm/binary/type_table.h"
#include "wasm/binary/value_type.h"

namespace plimsoll::wasm {

/// The identity of a type, and of those above it from the top down, its own last.
struct TypeIdentity {
  std::uint32_t identity = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> chain;
};

/// Thread-safe. Identities live as long as the registry.
class TypeRegistry {
 public:
  /// The identities of a module's types, by type index.
  [[nodiscard]] std::vector<std::uint32_t> intern(const TypeTable& types);
  [[nodiscard]] std::shared_ptr<const std::vector<std::uint32_t>> chain(
      std::uint32_t identity) const;
  /// A module's value type with identities in place of its indices.
  [[nodiscard]] static ValueType shared(ValueType type,
                                        const std::vector<std::uint32_t>& identities);
  /// Of types made by shared().
  [[nodiscard]] bool is_subtype(ValueType sub, ValueType super) const;
  [[nodiscard]] bool is_subtype(std::uint32_t sub, std::uint32_t super) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> groups_;  // structure → first identity
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> chains_;
};

}  // namespace plimsoll::wasm
