#include "wasm/baseline/compile.h"

#include "wasm/baseline/x64/compiler.h"
#include "wasm/binary/body_walker.h"

namespace plimsoll::wasm {

struct BodyCompiler::Parts {
  Parts(const std::shared_ptr<memory::Budget>& budget, CompileSettings settings)
      : stacks(budget), compiler(settings) {}
  BodyStacks stacks;
  baseline::Compiler compiler;
};

BodyCompiler::BodyCompiler(const std::shared_ptr<memory::Budget>& budget, CompileSettings settings)
    : parts_(std::make_unique<Parts>(budget, settings)) {}

BodyCompiler::~BodyCompiler() = default;

CompiledBody BodyCompiler::compile(const Module& module, std::uint32_t function,
                                   std::span<const std::byte> body, std::uint64_t offset) {
  FeatureUse features{.allowed = module.allowed, .used = {}};
  BodyWalker<baseline::Compiler>(module, features, parts_->stacks, parts_->compiler)
      .walk(function, body, offset);
  return {.code = parts_->compiler.code(), .trap_sites = parts_->compiler.trap_sites()};
}

}  // namespace plimsoll::wasm
