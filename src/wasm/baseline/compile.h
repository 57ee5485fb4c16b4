// The baseline compiler: one pass over a body, which is validated in the same pass. Why it exists:
// every function must be able to run after one cheap pass. May touch: binary/, runtime/context.h,
// code/trap_sites.h. Architecture code lives below x64/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wasm/binary/body_checker.h"
#include "wasm/binary/features.h"
#include "wasm/binary/module.h"

namespace plimsoll::wasm {

struct CompileSettings {
  bool explicit_bounds = false;  ///< compare addresses instead of relying on guard pages
};

/// Position-independent code of one function and its trap sites (code/trap_sites.h; kinds are
/// TrapKind). Valid until the compiler is used again.
struct CompiledBody {
  std::span<const std::byte> code;
  std::span<const std::uint8_t> trap_sites;
};

/// Compiles one body after the other; one for each thread.
class BodyCompiler {
 public:
  BodyCompiler(const std::shared_ptr<memory::Budget>& budget, CompileSettings settings);
  BodyCompiler(const BodyCompiler&) = delete;
  BodyCompiler& operator=(const BodyCompiler&) = delete;
  ~BodyCompiler();

  /// `body` as in the code section, without its size, at `offset` in the module. Throws
  /// Error(bad_input) where it is invalid, Error(unsupported) naming an instruction that the
  /// compiler does not know, and OutOfBudget.
  [[nodiscard]] CompiledBody compile(const Module& module, std::uint32_t function,
                                     std::span<const std::byte> body, std::uint64_t offset);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace plimsoll::wasm
