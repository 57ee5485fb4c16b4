// The converted WebAssembly test suite. Why it exists: several tests walk its scripts.
// May touch: the standard library, nlohmann-json.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace plimsoll::wasm::test {

/// The folder that scripts/convert_spec.sh fills (PLIMSOLL_SPEC overrides it), or nothing.
[[nodiscard]] std::optional<std::filesystem::path> spec_folder();

struct SpecScript {
  std::string name;  ///< "i32", "proposals/threads/atomic"
  std::filesystem::path folder;
  nlohmann::json commands;
};
/// The scripts directly below `group` ("" for the core standard), ordered by name.
[[nodiscard]] std::vector<SpecScript> spec_scripts(const std::filesystem::path& root,
                                                   const std::string& group);

[[nodiscard]] std::vector<std::byte> read_bytes(const std::filesystem::path& path);

}  // namespace plimsoll::wasm::test
