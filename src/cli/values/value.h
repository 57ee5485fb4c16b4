// VALUE arguments → tensors. Why it exists: `--input` takes files, images, constants and random
// numbers alike; each is decoded straight into memory under the engine's limit. May touch: the
// public API, stb for images.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// An input ready to be bound. Sequences have several items.
struct InputValue {
  struct Item {
    ElementType type = ElementType::undefined;
    Shape shape;
    HostMemory memory;
    [[nodiscard]] ConstTensorView view() const { return {type, shape, memory.data.get()}; }
  };
  std::vector<Item> items;
  bool is_sequence = false;
  bool is_absent = false;
};

enum class ImageRange : std::uint8_t { zero_to_one, zero_to_255, minus_one_to_one };

struct ValueRequest {
  std::string text;                              ///< the VALUE
  ElementType element = ElementType::undefined;  ///< as declared, where it is
  std::optional<Shape> shape;  ///< declared and completed by --dim and --shape, where it is known
  std::size_t input_number = 0;
  ImageRange range = ImageRange::zero_to_255;
};

/// Running out of the limit is a Refusal. Throws Error(bad_input) and Error(usage).
[[nodiscard]] std::expected<InputValue, Refusal> decode_value(const Engine& engine,
                                                              const ValueRequest& request);

/// Only the type and shape of what decode_value would give, for planning without data.
struct ValueType {
  ElementType type;
  Shape shape;
};
[[nodiscard]] std::optional<ValueType> peek_value(const ValueRequest& request);

/// Fills with the documented generator: SplitMix64 of (seed, input number); floats uniform in
/// [0,1), integers and booleans 0 or 1. See docs/formats.md.
void fill_random(TensorView tensor, std::uint64_t seed, std::size_t input_number);

}  // namespace plimsoll::cli
