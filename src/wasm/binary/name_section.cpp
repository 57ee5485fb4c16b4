#include "wasm/binary/name_section.h"

#include <algorithm>

#include "wasm/binary/byte_reader.h"

namespace plimsoll::wasm {
namespace {

constexpr std::uint8_t function_names_id = 1;

using Names = std::vector<std::pair<std::uint32_t, std::string_view>>;

void read_function_names(ByteReader reader, std::span<const std::uint32_t> wanted, Names& names) {
  const std::uint32_t count = reader.u32("the number of names");
  for (std::uint32_t entry = 0; entry < count; ++entry) {
    const std::uint32_t index = reader.u32("a function index");
    const std::string_view name = reader.name("the name of a function");
    if (std::find(wanted.begin(), wanted.end(), index) != wanted.end()) {
      names.emplace_back(index, name);
    }
  }
}

}  // namespace

Names function_names(std::span<const std::byte> section, std::span<const std::uint32_t> wanted) {
  Names names;
  ByteReader reader(section, 0, "name section");
  try {
    while (!reader.at_end()) {
      const std::uint8_t id = reader.byte("a subsection");
      const std::uint32_t size = reader.u32("the size of a subsection");
      const std::span<const std::byte> contents = reader.bytes(size, "a subsection");
      if (id == function_names_id) {
        read_function_names(ByteReader(contents, 0, "name section"), wanted, names);
      }
    }
  } catch (const Error&) {
    return names;  // a hint that ends early
  }
  return names;
}

}  // namespace plimsoll::wasm
