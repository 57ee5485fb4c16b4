#include "wasm/runtime/code_module.h"

#include <algorithm>

#include "code/trap_sites.h"
#include "wasm/binary/module_decoder.h"

namespace plimsoll::wasm {
namespace {

/// Address space for code: a multiple of the bodies' bytes. What is not used costs nothing.
constexpr std::uint64_t code_per_body_byte = 24;
constexpr std::uint64_t code_per_function = 256;
constexpr std::uint64_t smallest_capacity = 64 * 1024;
constexpr std::uint64_t largest_capacity = 0x7FFF0000;

}  // namespace

/// Compiles bodies and keeps data while the module is decoded.
class CodeModule::Listener final : public DecodeListener {
 public:
  Listener(CodeModule& owner, std::uint64_t module_bytes, MappedFile* file)
      : owner_(owner),
        module_bytes_(module_bytes),
        file_(file),
        compiler_(owner.engine_->budget(), owner.engine_->settings().compile) {}

  void on_body(const Module& module, FeatureUse& features, std::uint32_t function,
               std::span<const std::byte> body, std::uint64_t offset) override {
    if (owner_.memory_ == nullptr) begin_code(module);
    const CompiledBody compiled = compile(module, function, body, offset);
    (void)features;
    auto placed = owner_.memory_->add(compiled.code);
    if (!placed) throw OutOfBudget{std::move(placed.error())};
    owner_.code_table_[function] = *placed;
    owner_.entries_.push_back(
        {.offset = static_cast<std::uint32_t>(*placed - owner_.memory_->begin()),
         .size = static_cast<std::uint32_t>(compiled.code.size()),
         .sites = static_cast<std::uint32_t>(owner_.sites_.size()),
         .sites_size = static_cast<std::uint32_t>(compiled.trap_sites.size())});
    owner_.sites_.append(compiled.trap_sites);
  }

  void on_item(std::uint64_t bytes) override {
    if (file_ == nullptr) return;
    if (auto claimed = file_->claim_window(bytes); !claimed) {
      throw OutOfBudget{std::move(claimed.error())};
    }
  }
  void on_progress(std::uint64_t offset) override {
    if (file_ != nullptr) file_->drop_before(offset);
  }

  void on_data(const Module& module, std::span<const std::byte> piece) override {
    owner_.segments_.resize(module.data.size());
    ByteRange& segment = owner_.segments_[module.data.size() - 1];
    if (segment.size == 0) segment.offset = static_cast<std::uint32_t>(owner_.data_.size());
    segment.size += static_cast<std::uint32_t>(piece.size());
    owner_.data_.append(piece);
  }

 private:
  CompiledBody compile(const Module& module, std::uint32_t function,
                       std::span<const std::byte> body, std::uint64_t offset) {
    try {
      return compiler_.compile(module, function, body, offset);
    } catch (Error& error) {
      error.add_context("function " + std::to_string(function));
      throw;
    }
  }

  void begin_code(const Module& module) {
    const std::uint64_t capacity =
        std::clamp(module_bytes_ * code_per_body_byte + module.functions.size() * code_per_function,
                   smallest_capacity, largest_capacity);
    auto memory = code::CodeMemory::create(owner_.engine_->budget(), capacity);
    if (!memory) throw OutOfBudget{std::move(memory.error())};
    owner_.memory_ = std::move(*memory);
    owner_.code_table_.resize(module.functions.size());
    owner_.entries_.reserve(module.functions.size() - module.imported_functions);
  }

  CodeModule& owner_;
  std::uint64_t module_bytes_;
  MappedFile* file_;  ///< null: the bytes lie in memory
  BodyCompiler compiler_;
};

CodeModule::CodeModule(std::shared_ptr<Engine> engine)
    : engine_(std::move(engine)),
      code_table_(engine_->budget(), "code table of the module"),
      entries_(engine_->budget(), "places of functions in the code"),
      sites_(engine_->budget(), "trap sites of the module"),
      data_(engine_->budget(), "data segments of the module"),
      segments_(engine_->budget(), "data segments of the module") {}

std::expected<std::shared_ptr<const CodeModule>, Refusal> CodeModule::compile(
    const std::shared_ptr<Engine>& engine, std::span<const std::byte> bytes) {
  return compile(engine, bytes, nullptr);
}

std::expected<std::shared_ptr<const CodeModule>, Refusal> CodeModule::compile(
    const std::shared_ptr<Engine>& engine, MappedFile& file) {
  return compile(engine, file.bytes(), &file);
}

std::expected<std::shared_ptr<const CodeModule>, Refusal> CodeModule::compile(
    const std::shared_ptr<Engine>& engine, std::span<const std::byte> bytes, MappedFile* file) {
  try {
    std::shared_ptr<CodeModule> made(new CodeModule(engine));
    Listener listener(*made, bytes.size(), file);
    ModuleDecoder decoder(engine->budget(), engine->settings().features, listener);
    if (auto fed = decoder.feed(bytes); !fed) return std::unexpected(std::move(fed.error()));
    auto module = decoder.finish();
    if (!module) return std::unexpected(std::move(module.error()));
    made->module_ = std::move(*module);
    made->segments_.resize(made->module_->data.size());
    made->identities_ = engine->types().intern(made->module_->types);
    made->sites_.shrink_to_fit();
    made->data_.shrink_to_fit();
    if (made->memory_ != nullptr) {
      made->range_ = std::make_unique<code::CodeRange>(made->memory_->begin(),
                                                       made->memory_->capacity(), *made);
    }
    return made;
  } catch (OutOfBudget& out) {
    return std::unexpected(std::move(out.refusal));
  }
}

std::span<const std::byte> CodeModule::data(std::uint32_t segment) const noexcept {
  return data_.span(segments_[segment].offset, segments_[segment].size);
}

std::uint64_t CodeModule::code_bytes() const {
  return memory_ == nullptr ? 0 : memory_->used_bytes();
}

std::uint64_t CodeModule::metadata_bytes() const noexcept {
  return module_->claimed_bytes() + code_table_.claimed_bytes() + entries_.claimed_bytes() +
         sites_.claimed_bytes();
}

int CodeModule::trap_kind_at(const std::byte* address) const noexcept {
  const auto offset = static_cast<std::uint32_t>(address - memory_->begin());
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), offset,
      [](std::uint32_t wanted, const Entry& entry) { return wanted < entry.offset; });
  if (after == entries_.begin()) return -1;
  const Entry& entry = *(after - 1);
  if (offset - entry.offset >= entry.size) return -1;
  const auto kind =
      code::find_trap_site(sites_.span(entry.sites, entry.sites_size), offset - entry.offset);
  return kind ? static_cast<int>(*kind) : -1;
}

}  // namespace plimsoll::wasm
