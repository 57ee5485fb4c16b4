// VALUE arguments → tensors. Why it exists: `--input` takes files, pictures, constants and random
// numbers alike. A value is opened first (its type and shape are known then, and nothing large has
// been done), planned with, and read last, straight to memory under the engine's limit. May touch:
// the public API; the readers beside it.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/values/image.h"
#include "cli/values/value_spec.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// What is wanted of a value: the input that it is for.
struct ValueRequest {
  std::string input;                             ///< its name
  std::size_t number = 0;                        ///< its place among the model's inputs
  ElementType element = ElementType::undefined;  ///< as declared, where it is
  bool is_sequence = false;
  /// As declared, with what --dim and --shape say; −1: free. Absent: the rank is not known.
  std::optional<std::vector<std::int64_t>> dimensions;
  std::string declared;  ///< the declared type and shape, for messages: "f32 nx3x224x224"
  std::string text;      ///< the VALUE, for messages; empty: not given
  ImageRange range = ImageRange::zero_to_255;
};

/// A value that is open. Not thread-safe.
class Value {
 public:
  Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  virtual ~Value() = default;

  /// One for a tensor, any number for a sequence, none for an optional without a value. The types
  /// are those that the tensors will have in memory.
  [[nodiscard]] const std::vector<ValueType>& items() const noexcept { return items_; }
  [[nodiscard]] bool is_sequence() const noexcept { return is_sequence_; }
  [[nodiscard]] bool is_absent() const noexcept { return is_absent_; }
  /// What reading needs beside the tensors themselves, at most.
  [[nodiscard]] virtual std::uint64_t scratch_bytes() const { return 0; }
  /// Once for each item: writes all elements, row-major. Running out of the limit is a Refusal.
  /// Throws Error(bad_input), Error(failure).
  [[nodiscard]] virtual std::expected<void, Refusal> read(const Engine& engine, std::size_t item,
                                                          TensorView destination) = 0;

 protected:
  std::vector<ValueType> items_;
  bool is_sequence_ = false;
  bool is_absent_ = false;
};

/// Opens request.text and checks type and shape against what the input declares. Throws
/// Error(bad_input) naming the input, the value, the cause and what to do.
[[nodiscard]] std::unique_ptr<Value> open_value(const ValueRequest& request);

}  // namespace plimsoll::cli
