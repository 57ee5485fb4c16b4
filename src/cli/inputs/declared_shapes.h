// What --dim and --shape say about the model's inputs. Why it exists: a model leaves dimensions
// open that a run must know. May touch: the public API.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/options.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// For each input its dimensions, −1 where still free; absent where not even the rank is known.
/// Throws Error(usage) for symbols and inputs that the model does not have, and for numbers that
/// are none; Error(bad_input) for a --shape that contradicts the model.
[[nodiscard]] std::vector<std::optional<std::vector<std::int64_t>>> input_dimensions(
    const Options& options, const ModelInfo& info);

}  // namespace plimsoll::cli
