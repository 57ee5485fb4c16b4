// Names in arguments. Why it exists: inputs, outputs, shapes and states are all given as NAME=…,
// with names that may hold '='. May touch: the public API.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// The longest name that stands before a '=' at the beginning of `text`.
[[nodiscard]] inline std::optional<std::size_t> named_prefix(const std::vector<ValueInfo>& values,
                                                             std::string_view text) {
  std::optional<std::size_t> found;
  for (std::size_t index = 0; index < values.size(); ++index) {
    const std::string& name = values[index].name;
    const bool matches =
        text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=';
    if (matches && (!found || name.size() > values[*found].name.size())) found = index;
  }
  return found;
}

/// "'x', 'y'", for messages.
[[nodiscard]] inline std::string list_names(const std::vector<ValueInfo>& values) {
  std::string text;
  for (const ValueInfo& value : values) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", value.name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace plimsoll::cli
