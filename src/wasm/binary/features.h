// Which parts of WebAssembly are allowed and which a module uses. Why it exists: older rules must
// be testable, an embedder may want less than everything, and `inspect` says what a module needs.
// May touch: the standard library, plimsoll/error.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::wasm {

/// In the order in which they joined the standard. `core` is what 1.0 has.
enum class Feature : std::uint8_t {
  core,
  sign_extension,
  saturating_float_to_int,
  multi_value,
  reference_types,
  bulk_memory,
  simd,
  extended_const,
  tail_call,
  exceptions,
  multi_memory,
  memory64,
  relaxed_simd,
  function_references,
  gc,
  threads,
};
inline constexpr int feature_count = static_cast<int>(Feature::threads) + 1;

/// "relaxed-simd".
[[nodiscard]] std::string_view feature_name(Feature feature) noexcept;

/// A set of features. Holds `core` always.
class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  [[nodiscard]] static FeatureSet wasm_1() noexcept;
  [[nodiscard]] static FeatureSet wasm_2() noexcept;
  /// Everything that is implemented: 3.0 and threads.
  [[nodiscard]] static FeatureSet wasm_3() noexcept;

  /// Reads "3.0,-simd" or "1.0,threads": a version first or nothing (then 3.0), then names added,
  /// or taken away with a leading '-'. What a feature builds on comes with it, and what builds on
  /// one goes with it. Throws Error(usage) naming a word that is not known, and the words that are.
  [[nodiscard]] static FeatureSet parse(std::string_view list);

  [[nodiscard]] constexpr bool has(Feature feature) const noexcept {
    return (bits_ >> static_cast<unsigned>(feature) & 1U) != 0;
  }
  constexpr void add(Feature feature) noexcept { bits_ |= 1U << static_cast<unsigned>(feature); }
  constexpr void remove(Feature feature) noexcept {
    if (feature != Feature::core) bits_ &= ~(1U << static_cast<unsigned>(feature));
  }
  constexpr void add(FeatureSet other) noexcept { bits_ |= other.bits_; }
  /// Without `core`, in the order of the enumeration.
  [[nodiscard]] std::vector<std::string_view> names() const;

 private:
  std::uint32_t bits_ = 1;
};

/// What is allowed, and what has been met so far. One for each thread that decodes.
struct FeatureUse {
  FeatureSet allowed = FeatureSet::wasm_3();
  FeatureSet used;

  /// Notes that `what` ("i32.extend8_s") needs the feature; throws Error(bad_input) with the byte
  /// offset when it is switched off.
  void require(Feature feature, std::uint64_t offset, std::string_view what) {
    if (!allowed.has(feature)) [[unlikely]] {
      refuse(feature, offset, what);
    }
    used.add(feature);
  }

 private:
  [[noreturn]] static void refuse(Feature feature, std::uint64_t offset, std::string_view what);
};

}  // namespace plimsoll::wasm
