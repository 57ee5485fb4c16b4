// The grammar of VALUE, the argument of --input. Why it exists: what a value is can be told from
// its text alone, before any file is opened, so the grammar is pure, testable and fuzzed. May
// touch: the public API.
//
//   file.npy   file.npz:key   file.pb   picture.png   picture.jpg
//   1x3x640x640xf32=0.5       i64=16000                a constant
//   1x512xf32=random:7        random:7                 SplitMix64, see random.h
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "plimsoll/element_type.h"
#include "plimsoll/shape.h"

namespace plimsoll::cli {

struct ValueType {
  ElementType type = ElementType::undefined;
  Shape shape;
};

struct NpyFile {
  std::string path;
};
struct NpzEntry {
  std::string path;
  std::string key;  ///< empty: the archive's only array
};
struct ProtoFile {
  std::string path;
};
struct ImageFile {
  std::string path;
};
struct RandomValue {
  std::optional<ValueType> type;  ///< absent: as the input declares
  std::uint64_t seed = 0;
};
/// Every element is the same.
struct ConstantValue {
  ValueType type;
  std::array<std::byte, 8> element{};  ///< its first element_size(type) bytes, as in memory
};
using ValueSpec = std::variant<NpyFile, NpzEntry, ProtoFile, ImageFile, RandomValue, ConstantValue>;

/// Throws Error(bad_input) saying what a value may be.
[[nodiscard]] ValueSpec parse_value(std::string_view text);

/// "1x3x8x8xf32" or "f32": dimensions, then the element type. Nothing when it is not of that form;
/// throws Error(bad_input) when it is, but the dimensions are too many or too large.
[[nodiscard]] std::optional<ValueType> parse_value_type(std::string_view text);

/// "1x512", or "scalar" for no dimensions; nothing when it is not of that form.
[[nodiscard]] std::optional<Shape> parse_shape(std::string_view text);

/// A dimension: digits only, below 2^62.
[[nodiscard]] std::optional<std::int64_t> parse_dimension(std::string_view text);

/// True for "random:…", whether the seed is good or not.
[[nodiscard]] bool is_random(std::string_view text);

}  // namespace plimsoll::cli
