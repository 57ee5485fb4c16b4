#include "wasm/spec_suite.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace plimsoll::wasm::test {

std::optional<std::filesystem::path> spec_folder() {
  const char* named = std::getenv("PLIMSOLL_SPEC");
  std::filesystem::path folder =
      named != nullptr ? named : std::filesystem::path(PLIMSOLL_SOURCE_DIR) / ".cache" / "spec";
  if (!std::filesystem::exists(folder / "i32" / "script.json")) return std::nullopt;
  return folder;
}

std::vector<SpecScript> spec_scripts(const std::filesystem::path& root, const std::string& group) {
  std::vector<SpecScript> scripts;
  for (const auto& entry : std::filesystem::directory_iterator(root / group)) {
    const std::filesystem::path script = entry.path() / "script.json";
    if (!std::filesystem::exists(script)) continue;
    std::ifstream file(script);
    scripts.push_back({.name = (std::filesystem::path(group) / entry.path().filename()).string(),
                       .folder = entry.path(),
                       .commands = nlohmann::json::parse(file).at("commands")});
  }
  std::sort(scripts.begin(), scripts.end(),
            [](const SpecScript& left, const SpecScript& right) { return left.name < right.name; });
  return scripts;
}

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

}  // namespace plimsoll::wasm::test
