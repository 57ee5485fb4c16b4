#include "wasm/binary/features.h"

#include <fmt/format.h>

#include <array>

#include "plimsoll/error.h"
#include "wasm/binary/decode_error.h"

namespace plimsoll::wasm {
namespace {

constexpr std::array<std::string_view, feature_count> names_of_features = {
    "core",         "sign-extension",      "saturating-float-to-int",
    "multi-value",  "reference-types",     "bulk-memory",
    "simd",         "extended-const",      "tail-call",
    "exceptions",   "multi-memory",        "memory64",
    "relaxed-simd", "function-references", "gc",
    "threads"};

struct Dependence {
  Feature feature;
  Feature on;
};
// Ordered so that one pass forwards (adding) or backwards (removing) reaches everything.
constexpr Dependence dependences[] = {
    {Feature::gc, Feature::function_references},
    {Feature::function_references, Feature::reference_types},
    {Feature::relaxed_simd, Feature::simd},
    {Feature::exceptions, Feature::reference_types},
    {Feature::reference_types, Feature::bulk_memory},
};

FeatureSet with(FeatureSet set, Feature from, Feature to) {
  for (int index = static_cast<int>(from); index <= static_cast<int>(to); ++index) {
    set.add(static_cast<Feature>(index));
  }
  return set;
}

void add_with_base(FeatureSet& set, Feature feature) {
  set.add(feature);
  for (const Dependence& dependence : dependences) {
    if (set.has(dependence.feature)) set.add(dependence.on);
  }
}

void remove_with_users(FeatureSet& set, Feature feature) {
  set.remove(feature);
  for (int index = static_cast<int>(std::size(dependences)) - 1; index >= 0; --index) {
    const Dependence& dependence = dependences[index];
    if (!set.has(dependence.on)) set.remove(dependence.feature);
  }
}

std::string known_words() {
  std::string all = "1.0, 2.0, 3.0";
  for (int index = 1; index < feature_count; ++index) {
    all += ", ";
    all += names_of_features[static_cast<std::size_t>(index)];
  }
  return all;
}

void apply(FeatureSet& set, std::string_view word) {
  const bool take_away = word.starts_with('-');
  const std::string_view name = take_away ? word.substr(1) : word;
  for (int index = 1; index < feature_count; ++index) {
    if (names_of_features[static_cast<std::size_t>(index)] != name) continue;
    if (take_away) {
      remove_with_users(set, static_cast<Feature>(index));
    } else {
      add_with_base(set, static_cast<Feature>(index));
    }
    return;
  }
  throw Error(ErrorKind::usage, fmt::format("'{}' is no feature of WebAssembly that is known here; "
                                            "known are: {}",
                                            word, known_words()));
}

}  // namespace

std::string_view feature_name(Feature feature) noexcept {
  return names_of_features[static_cast<std::size_t>(feature)];
}

FeatureSet FeatureSet::wasm_1() noexcept {
  return {};
}

FeatureSet FeatureSet::wasm_2() noexcept {
  return with(wasm_1(), Feature::sign_extension, Feature::simd);
}

FeatureSet FeatureSet::wasm_3() noexcept {
  return with(wasm_2(), Feature::extended_const, Feature::threads);
}

FeatureSet FeatureSet::parse(std::string_view list) {
  FeatureSet set = wasm_3();
  bool first = true;
  while (!list.empty() || first) {
    const std::size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (first && (word == "1.0" || word == "2.0" || word == "3.0")) {
      set = word == "1.0" ? wasm_1() : word == "2.0" ? wasm_2() : wasm_3();
    } else {
      apply(set, word);
    }
    first = false;
  }
  return set;
}

std::vector<std::string_view> FeatureSet::names() const {
  std::vector<std::string_view> found;
  for (int index = 1; index < feature_count; ++index) {
    if (has(static_cast<Feature>(index)))
      found.push_back(feature_name(static_cast<Feature>(index)));
  }
  return found;
}

void FeatureUse::refuse(Feature feature, std::uint64_t offset, std::string_view what) {
  fail_decode(offset, fmt::format("{} needs the feature '{}', which is switched off", what,
                                  feature_name(feature)));
}

}  // namespace plimsoll::wasm
