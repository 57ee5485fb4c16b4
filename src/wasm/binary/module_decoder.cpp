#include "wasm/binary/module_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "memory/block.h"
#include "wasm/binary/implementation_limits.h"
#include "wasm/binary/sections.h"

namespace plimsoll::wasm {
namespace {

constexpr std::size_t preamble_bytes = 8;
constexpr std::uint8_t custom_section = 0;
constexpr std::uint8_t code_section = 10;
constexpr std::uint8_t data_section = 11;

using SectionFunction = void (*)(ByteReader&, Module&, FeatureUse&);
struct SectionKind {
  const char* name;
  std::uint8_t rank;         ///< place in the prescribed order
  SectionFunction function;  ///< null: read piece by piece
};
// By identifier.
constexpr std::array<SectionKind, 14> section_kinds = {{
    {"custom section", 0, nullptr},
    {"type section", 1, read_type_section},
    {"import section", 2, read_import_section},
    {"function section", 3, read_function_section},
    {"table section", 4, read_table_section},
    {"memory section", 5, read_memory_section},
    {"global section", 7, read_global_section},
    {"export section", 8, read_export_section},
    {"start section", 9, read_start_section},
    {"element section", 10, read_element_section},
    {"code section", 12, nullptr},
    {"data section", 13, nullptr},
    {"data count section", 11, read_data_count_section},
    {"tag section", 6, read_tag_section},
}};

}  // namespace

ModuleDecoder::ModuleDecoder(const std::shared_ptr<memory::Budget>& budget, FeatureSet allowed,
                             DecodeListener& listener)
    : module_(std::make_unique<Module>(budget)),
      features_{.allowed = allowed, .used = {}},
      listener_(listener),
      carry_(budget, "a part of the module that is cut between two pieces"),
      wanted_(preamble_bytes) {
  module_->allowed = allowed;
}

std::expected<void, Refusal> ModuleDecoder::feed(std::span<const std::byte> piece) {
  if (is_spent_) fail_internal("a module decoder was fed after it had ended");
  is_spent_ = true;  // whatever leaves this function early
  try {
    consume(piece);
  } catch (OutOfBudget& out) {
    return std::unexpected(std::move(out.refusal));
  }
  is_spent_ = false;
  return {};
}

std::expected<std::unique_ptr<const Module>, Refusal> ModuleDecoder::finish() {
  if (is_spent_) fail_internal("a module decoder was finished after it had ended");
  is_spent_ = true;
  try {
    check_whole();
    carry_.reset();
    module_->file_bytes = position_;
    module_->used = features_.used;
    module_->shrink_to_fit();
  } catch (OutOfBudget& out) {
    return std::unexpected(std::move(out.refusal));
  }
  return std::unique_ptr<const Module>(std::move(module_));
}

void ModuleDecoder::check_whole() const {
  const std::uint64_t end = position_ + carry_.size();
  if (state_ == State::preamble) {
    fail_decode(end, "unexpected end of the module: expected the 8 bytes '\\0asm' and version 1");
  }
  if (state_ != State::section_header || !carry_.empty()) {
    fail_decode(end, fmt::format("unexpected end of the module inside the {}",
                                 section_kinds[section_id_].name));
  }
  const std::size_t own = module_->functions.size() - module_->imported_functions;
  if (!has_code_ && own != 0) {
    fail_decode(end,
                fmt::format("function and code section have inconsistent lengths: {} functions "
                            "and no code section",
                            own));
  }
  if (module_->data_count != no_index && module_->data_count != module_->data.size()) {
    fail_decode(end, fmt::format("data count and data section have inconsistent lengths: {} and {}",
                                 module_->data_count, module_->data.size()));
  }
}

void ModuleDecoder::consume(std::span<const std::byte> piece) {
  if (piece.size() > limits::module_bytes - position_ - carry_.size()) {
    fail_decode(limits::module_bytes, fmt::format("the module is longer than the {} bytes that are "
                                                  "accepted",
                                                  limits::module_bytes));
  }
  while (true) {
    if (!carry_.empty()) {
      const std::size_t missing = wanted_ > carry_.size() ? wanted_ - carry_.size() : 0;
      const std::size_t taken = std::min(missing, piece.size());
      carry_.append(piece.first(taken));
      piece = piece.subspan(taken);
      if (carry_.size() < wanted_) return;
      carry_.erase_front(step(carry_.span()));
      if (carry_.empty() && carry_.claimed_bytes() > memory::smallest_block_bytes) carry_.reset();
      continue;
    }
    if (piece.size() < wanted_) {
      carry_.append(piece);
      return;
    }
    piece = piece.subspan(step(piece));
  }
}

std::size_t ModuleDecoder::step(std::span<const std::byte> view) {
  const bool in_section = state_ != State::preamble && state_ != State::section_header;
  bool is_final = false;
  if (in_section && view.size() >= section_left()) {
    view = view.first(static_cast<std::size_t>(section_left()));
    is_final = true;
  }
  std::size_t used = 0;
  try {
    used = dispatch(view);
  } catch (const Incomplete&) {
    if (is_final) {
      fail_decode(section_end_,
                  fmt::format("unexpected end of the {}", section_kinds[section_id_].name));
    }
    // Twice as much, so that feeding byte by byte stays linear.
    want(std::max<std::size_t>(view.size() * 2, 1));
    if (in_section) {
      wanted_ = static_cast<std::size_t>(std::min<std::uint64_t>(wanted_, section_left()));
    } else {
      want(view.size() + 1);  // headers are short
    }
    return 0;
  }
  position_ += used;
  if (used != 0) listener_.on_progress(position_);
  return used;
}

std::size_t ModuleDecoder::dispatch(std::span<const std::byte> view) {
  const char* unit = state_ == State::section_header ? "module" : section_kinds[section_id_].name;
  const ByteReader::End end =
      state_ == State::whole_section ? ByteReader::End::is_final : ByteReader::End::may_extend;
  ByteReader reader(view, position_, unit, end);
  switch (state_) {
    case State::preamble: {
      if (reader.fixed_u32("'\\0asm'") != 0x6D736100) {
        fail_decode(0,
                    "magic header not detected: expected '\\0asm'; this is no WebAssembly module");
      }
      const std::uint32_t version = reader.fixed_u32("the version");
      if (version != 1) {
        fail_decode(4, fmt::format("unknown binary version {:#x}: expected 1", version));
      }
      enter(State::section_header, 1);
      return preamble_bytes;
    }
    case State::section_header:
      return read_section_header(reader);
    case State::whole_section:
      return read_whole_section(reader);
    case State::body_count: {
      const std::uint64_t own = module_->functions.size() - module_->imported_functions;
      left_ = reader.u32("the number of bodies");
      if (left_ != own) {
        fail_decode(position_,
                    fmt::format("function and code section have inconsistent lengths: {} "
                                "and {}",
                                own, left_));
      }
      next_ = module_->imported_functions;
      position_ += reader.consumed();
      next_body();
      position_ -= reader.consumed();
      return reader.consumed();
    }
    case State::body_size: {
      bytes_left_ = reader.u32("the size of a body");
      if (bytes_left_ > limits::body_bytes) {
        fail_decode(position_, fmt::format("a body of {} bytes is longer than the {} that are "
                                           "accepted",
                                           bytes_left_, limits::body_bytes));
      }
      if (bytes_left_ > section_left() - reader.consumed()) {
        fail_decode(position_, fmt::format("unexpected end of the code section: a body of {} bytes "
                                           "and {} are left",
                                           bytes_left_, section_left() - reader.consumed()));
      }
      enter(State::body, bytes_left_);
      return reader.consumed();
    }
    case State::body:
      return read_body(view);
    case State::segment_count: {
      left_ = reader.u32("the number of data segments");
      if (left_ > limits::data_segments) {
        fail_decode(position_,
                    fmt::format("{} data segments are more than the {} that are accepted", left_,
                                limits::data_segments));
      }
      if (module_->data_count != no_index && module_->data_count != left_) {
        fail_decode(position_, fmt::format("data count and data section have inconsistent lengths: "
                                           "{} and {}",
                                           module_->data_count, left_));
      }
      position_ += reader.consumed();
      next_segment();
      position_ -= reader.consumed();
      return reader.consumed();
    }
    case State::segment_header:
      return read_segment_header(reader);
    case State::segment_bytes:
    case State::custom_bytes:
      return pass_through(view);
    case State::custom_name:
      return read_custom_name(reader);
  }
  return 0;
}

std::size_t ModuleDecoder::read_section_header(ByteReader reader) {
  const std::uint64_t offset = position_;
  const std::uint8_t id = reader.byte("a section");
  if (id >= section_kinds.size()) {
    fail_decode(offset, fmt::format("malformed section id {}: expected 0 to {}", id,
                                    section_kinds.size() - 1));
  }
  const std::uint32_t size = reader.u32("the size of a section");
  const std::uint64_t begin = offset + reader.consumed();
  if (size > limits::module_bytes - begin) {
    fail_decode(offset, fmt::format("length out of bounds: the {} of {} bytes reaches past the {} "
                                    "bytes that a module may have",
                                    section_kinds[id].name, size, limits::module_bytes));
  }
  check_order(id, offset);
  section_id_ = id;
  section_end_ = begin + size;
  module_->sections.push_back({.id = id, .bytes = {static_cast<std::uint32_t>(begin), size}});
  if (id == custom_section) {
    enter(State::custom_name, std::min<std::size_t>(size, 1));
  } else if (id == code_section) {
    has_code_ = true;
    enter(State::body_count, std::min<std::size_t>(size, 1));
  } else if (id == data_section) {
    enter(State::segment_count, std::min<std::size_t>(size, 1));
  } else {
    enter(State::whole_section, size);
  }
  return reader.consumed();
}

void ModuleDecoder::check_order(std::uint8_t id, std::uint64_t offset) {
  if (id == custom_section) return;
  const SectionKind& kind = section_kinds[id];
  if (kind.rank <= last_rank_) {
    fail_decode(offset, fmt::format("unexpected content after last section: the {} comes twice or "
                                    "too late",
                                    kind.name));
  }
  last_rank_ = kind.rank;
}

std::size_t ModuleDecoder::read_whole_section(ByteReader reader) {
  listener_.on_item(reader.remaining());
  section_kinds[section_id_].function(reader, *module_, features_);
  if (!reader.at_end()) {
    reader.fail(fmt::format("section size mismatch: {} bytes are left of the {}",
                            reader.remaining(), section_kinds[section_id_].name));
  }
  enter(State::section_header, 1);
  return reader.consumed();
}

void ModuleDecoder::end_section() {
  if (section_left() != 0) {
    fail_decode(position_, fmt::format("section size mismatch: {} bytes are left of the {}",
                                       section_left(), section_kinds[section_id_].name));
  }
  enter(State::section_header, 1);
}

void ModuleDecoder::next_body() {
  if (left_ == 0) {
    end_section();
    return;
  }
  --left_;
  enter(State::body_size, std::min<std::size_t>(section_left(), 1));
}

std::size_t ModuleDecoder::read_body(std::span<const std::byte> view) {
  const std::span<const std::byte> body = view.first(bytes_left_);
  listener_.on_item(body.size());
  module_->functions[next_].body = {static_cast<std::uint32_t>(position_), bytes_left_};
  listener_.on_body(*module_, features_, next_, body, position_);
  ++next_;
  position_ += body.size();
  next_body();
  position_ -= body.size();
  return body.size();
}

void ModuleDecoder::next_segment() {
  if (left_ == 0) {
    end_section();
    return;
  }
  --left_;
  enter(State::segment_header, std::min<std::size_t>(section_left(), 1));
}

std::size_t ModuleDecoder::read_segment_header(ByteReader reader) {
  DataSegmentHeader header = read_data_segment_header(reader, *module_, features_);
  const std::uint64_t begin = position_ + reader.consumed();
  if (header.size > section_end_ - begin) {
    fail_decode(position_, fmt::format("unexpected end of the data section: a segment of {} bytes "
                                       "and {} are left",
                                       header.size, section_end_ - begin));
  }
  header.segment.bytes = {static_cast<std::uint32_t>(begin), header.size};
  header.segment.offset = module_->add_expression(header.offset_expression);
  module_->data.push_back(header.segment);
  bytes_left_ = header.size;
  enter(State::segment_bytes, std::min<std::size_t>(bytes_left_, 1));
  return reader.consumed();
}

std::size_t ModuleDecoder::read_custom_name(ByteReader reader) {
  const std::string_view name = reader.name("the name of a custom section");
  const std::uint64_t begin = position_ + reader.consumed();
  bytes_left_ = static_cast<std::uint32_t>(section_end_ - begin);
  module_->custom_sections.push_back(
      {.name = module_->add_name(name), .bytes = {static_cast<std::uint32_t>(begin), bytes_left_}});
  enter(State::custom_bytes, std::min<std::size_t>(bytes_left_, 1));
  return reader.consumed();
}

std::size_t ModuleDecoder::pass_through(std::span<const std::byte> view) {
  const std::span<const std::byte> piece =
      view.first(std::min<std::size_t>(view.size(), bytes_left_));
  const bool is_data = state_ == State::segment_bytes;
  if (!piece.empty()) {
    if (is_data) {
      listener_.on_data(*module_, piece);
    } else {
      listener_.on_custom(*module_, piece);
    }
  }
  bytes_left_ -= static_cast<std::uint32_t>(piece.size());
  if (bytes_left_ != 0) {
    want(1);
    return piece.size();
  }
  position_ += piece.size();
  if (is_data) {
    next_segment();
  } else {
    end_section();
  }
  position_ -= piece.size();
  return piece.size();
}

}  // namespace plimsoll::wasm
