#include "wasm/binary/decode_error.h"

#include <fmt/format.h>

namespace plimsoll::wasm {

void fail_decode(std::uint64_t offset, const std::string& message) {
  fail_input(fmt::format("at byte {0} ({0:#x}): {1}", offset, message));
}

void fail_not_implemented(std::uint64_t offset, const std::string& message) {
  fail_unsupported(fmt::format("at byte {0} ({0:#x}): {1}", offset, message));
}

}  // namespace plimsoll::wasm
