// Which argument belongs to which input or output of the model. Why it exists: names in models hold
// ':', '/' and '=', so NAME can only be told from VALUE by knowing the model. May touch: the public
// API, values/value.h.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/values/value.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// "f32 nx3x224x224", "i64 scalar", "f32 of any shape", "sequence of f32 …".
[[nodiscard]] std::string declared_text(const ValueInfo& info);

/// One request for each of the model's inputs, in its order; `text` is empty where nothing was
/// given. A prefix "NAME=" that equals an input's name, the longest one, is NAME; values without a
/// name are taken in order. A bare random:SEED fills every input that no other value fills. Throws
/// Error(usage) for what names no input or dimension of the model, or gives one twice.
[[nodiscard]] std::vector<ValueRequest> assign_inputs(const Options& options,
                                                      const ModelInfo& info);

/// Throws Error(bad_input) that lists the inputs without a value, with their types and shapes.
void require_all_inputs(const std::vector<ValueRequest>& requests);

/// The file of each of the model's outputs, empty where none was asked for. Throws Error(usage),
/// and Error(bad_input) for files that cannot be written.
[[nodiscard]] std::vector<std::string> assign_outputs(const Options& options,
                                                      const ModelInfo& info);

/// --state OUT=IN.
struct StateBinding {
  std::string output;
  std::string input;
};
/// Throws Error(usage) unless both are names of the model.
[[nodiscard]] std::vector<StateBinding> assign_states(const Options& options,
                                                      const ModelInfo& info);

}  // namespace plimsoll::cli
