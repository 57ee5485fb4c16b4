// Feeds bytes to the WebAssembly decoder and validator, whole and in pieces of a size that the
// first byte chooses. Every outcome but a module, a refusal or an Error is a finding; so is an
// Error that blames ourselves, and a module that is accepted in one form only.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "wasm/binary/validate.h"

namespace {

using plimsoll::Error;
using plimsoll::ErrorKind;
namespace wasm = plimsoll::wasm;

bool accepts(std::span<const std::byte> bytes, std::size_t piece) {
  const auto budget = plimsoll::memory::Budget::root("fuzz", 64 << 20);
  wasm::ValidatingListener listener(budget);
  try {
    wasm::ModuleDecoder decoder(budget, wasm::FeatureSet::wasm_3(), listener);
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
      if (!decoder.feed(bytes.subspan(begin, std::min(piece, bytes.size() - begin)))) return false;
    }
    return decoder.finish().has_value();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const bool whole = accepts(bytes, bytes.size() + 1);
  const bool cut = accepts(bytes, data[0] % 16U + 1U);
  if (whole != cut) std::abort();
  return 0;
}
