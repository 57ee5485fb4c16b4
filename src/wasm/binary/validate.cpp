#include "wasm/binary/validate.h"

#include <utility>

#include "plimsoll/error.h"
#include "wasm/binary/body_walker.h"
#include "wasm/binary/mapped_file.h"

namespace plimsoll::wasm {
namespace {

class FileListener final : public ValidatingListener {
 public:
  FileListener(const std::shared_ptr<memory::Budget>& budget, MappedFile& file)
      : ValidatingListener(budget), file_(file) {}
  void on_item(std::uint64_t bytes) override {
    if (auto claimed = file_.claim_window(bytes); !claimed) {
      throw OutOfBudget{std::move(claimed.error())};
    }
  }
  void on_progress(std::uint64_t offset) override { file_.drop_before(offset); }

 private:
  MappedFile& file_;
};

std::expected<std::unique_ptr<const Module>, Refusal> decode_whole(
    const std::shared_ptr<memory::Budget>& budget, FeatureSet features, DecodeListener& listener,
    std::span<const std::byte> bytes) {
  ModuleDecoder decoder(budget, features, listener);
  if (auto fed = decoder.feed(bytes); !fed) return std::unexpected(std::move(fed.error()));
  return decoder.finish();
}

}  // namespace

void ValidatingListener::on_body(const Module& module, FeatureUse& features, std::uint32_t function,
                                 std::span<const std::byte> body, std::uint64_t offset) {
  IgnoringVisitor nobody;
  try {
    BodyWalker<IgnoringVisitor>(module, features, stacks_, nobody).walk(function, body, offset);
  } catch (Error& error) {
    error.add_context("function " + std::to_string(function));
    throw;
  }
}

std::expected<std::unique_ptr<const Module>, Refusal> validate_module(
    const std::shared_ptr<memory::Budget>& budget, FeatureSet features,
    std::span<const std::byte> bytes) {
  ValidatingListener listener(budget);
  return decode_whole(budget, features, listener, bytes);
}

std::expected<std::unique_ptr<const Module>, Refusal> validate_module(
    const std::shared_ptr<memory::Budget>& budget, FeatureSet features, MappedFile& file) {
  FileListener listener(budget, file);
  return decode_whole(budget, features, listener, file.bytes());
}

}  // namespace plimsoll::wasm
