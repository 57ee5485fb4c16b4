// Decodes and validates whole modules. Why it exists: what the command line, tests and the compiler
// share: the listener that checks every body, and reading from a file whose pages are given back
// behind the reader. May touch: module_decoder.h, mapped_file.h.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>

#include "plimsoll/refusal.h"
#include "wasm/binary/body_checker.h"
#include "wasm/binary/features.h"
#include "wasm/binary/module.h"
#include "wasm/binary/module_decoder.h"

namespace plimsoll::wasm {

class MappedFile;

/// Checks every body as it comes.
class ValidatingListener : public DecodeListener {
 public:
  explicit ValidatingListener(const std::shared_ptr<memory::Budget>& budget) : stacks_(budget) {}
  void on_body(const Module& module, FeatureUse& features, std::uint32_t function,
               std::span<const std::byte> body, std::uint64_t offset) override;

 private:
  BodyStacks stacks_;
};

/// Throws Error(bad_input) or Error(unsupported) with the byte offset; a refused budget is a value.
[[nodiscard]] std::expected<std::unique_ptr<const Module>, Refusal> validate_module(
    const std::shared_ptr<memory::Budget>& budget, FeatureSet features,
    std::span<const std::byte> bytes);

/// The same from a file; its pages are given back behind the reader, so that no more of it than
/// `MappedFile::window_bytes` and the longest body is resident at a time.
[[nodiscard]] std::expected<std::unique_ptr<const Module>, Refusal> validate_module(
    const std::shared_ptr<memory::Budget>& budget, FeatureSet features, MappedFile& file);

}  // namespace plimsoll::wasm
