// Decodes a module from bytes that come in pieces. Why it exists: modules are larger than the
// memory that their decoding may take, and arrive from a mapped file or a network; so bodies and
// data pass through, and what must wait for its end waits in a buffer that grows with what came,
// never with what a size promises. May touch: module.h, sections.h.
//
//   feed(piece) … feed(piece) finish() ──► Module
//        │  bodies, data, custom sections ──► DecodeListener
//        └─ an item that lies whole in a piece is read in place; only a cut one is copied
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>

#include "memory/budget.h"
#include "plimsoll/refusal.h"
#include "wasm/binary/budgeted_vector.h"
#include "wasm/binary/byte_reader.h"
#include "wasm/binary/module.h"

namespace plimsoll::wasm {

/// What happens while a module is decoded. Spans are valid during the call only. A listener may
/// throw: the exception leaves feed() and the decoder cannot be used any more.
class DecodeListener {
 public:
  DecodeListener() = default;
  DecodeListener(const DecodeListener&) = delete;
  DecodeListener& operator=(const DecodeListener&) = delete;
  virtual ~DecodeListener() = default;
  /// A whole body, without its size; all that bodies refer to has been decoded.
  virtual void on_body(const Module& /*module*/, FeatureUse& /*features*/,
                       std::uint32_t /*function*/, std::span<const std::byte> /*body*/,
                       std::uint64_t /*offset*/) {}
  /// Bytes of the latest data segment, in order, in pieces.
  virtual void on_data(const Module& /*module*/, std::span<const std::byte> /*piece*/) {}
  /// Bytes of the latest custom section, in order, in pieces.
  virtual void on_custom(const Module& /*module*/, std::span<const std::byte> /*piece*/) {}
  /// So many bytes are about to be read in one go: a body or a whole section.
  virtual void on_item(std::uint64_t /*bytes*/) {}
  /// Everything before this offset has been read and is not looked at again.
  virtual void on_progress(std::uint64_t /*offset*/) {}
};

/// One module. One thread at a time.
class ModuleDecoder {
 public:
  /// The listener must outlive the decoder.
  ModuleDecoder(const std::shared_ptr<memory::Budget>& budget, FeatureSet allowed,
                DecodeListener& listener);

  /// Takes the next bytes. Throws Error(bad_input) or Error(unsupported) with the byte offset. A
  /// refused budget is a value. After either the decoder is spent: feeding it is Error(internal).
  [[nodiscard]] std::expected<void, Refusal> feed(std::span<const std::byte> piece);
  /// Ends the module; throws Error(bad_input) when it is cut.
  [[nodiscard]] std::expected<std::unique_ptr<const Module>, Refusal> finish();

 private:
  enum class State : std::uint8_t {
    preamble,
    section_header,
    whole_section,
    body_count,
    body_size,
    body,
    segment_count,
    segment_header,
    segment_bytes,
    custom_name,
    custom_bytes,
  };

  void consume(std::span<const std::byte> piece);
  /// Reads what `view` holds of the present item; returns the bytes used. Uses none only when the
  /// state changed or more are wanted.
  std::size_t step(std::span<const std::byte> view);
  std::size_t dispatch(std::span<const std::byte> view);
  std::size_t read_section_header(ByteReader reader);
  std::size_t read_whole_section(ByteReader reader);
  std::size_t read_body(std::span<const std::byte> view);
  std::size_t read_segment_header(ByteReader reader);
  std::size_t pass_through(std::span<const std::byte> view);
  std::size_t read_custom_name(ByteReader reader);
  void check_order(std::uint8_t id, std::uint64_t offset);
  void next_body();
  void next_segment();
  void end_section();
  void check_whole() const;
  void want(std::size_t bytes) noexcept { wanted_ = bytes; }
  void enter(State state, std::size_t wanted) noexcept {
    state_ = state;
    wanted_ = wanted;
  }
  [[nodiscard]] std::uint64_t section_left() const noexcept { return section_end_ - position_; }

  std::unique_ptr<Module> module_;
  FeatureUse features_;
  DecodeListener& listener_;
  BudgetedVector<std::byte> carry_;  ///< the beginning of an item that a piece cut
  State state_ = State::preamble;
  bool is_spent_ = false;
  std::size_t wanted_;
  std::uint64_t position_ = 0;  ///< in the module, of the next byte
  std::uint8_t section_id_ = 0;
  std::uint8_t last_rank_ = 0;  ///< of the sections so far, by their prescribed order
  std::uint64_t section_end_ = 0;
  std::uint32_t left_ = 0;        ///< bodies or segments still to come
  std::uint32_t next_ = 0;        ///< the function whose body comes next
  std::uint32_t bytes_left_ = 0;  ///< of the body, segment or custom section
  bool has_code_ = false;
};

}  // namespace plimsoll::wasm
