// Values against what the model declares. Why it exists: inputs set by the caller and states handed
// on by the session are checked alike. May touch: tensor/graph.
#pragma once

#include <string>

#include "tensor/graph/graph.h"

namespace plimsoll {

/// Type, rank and fixed dimensions of a value for the input `value`. Throws Error(bad_input) that
/// names the input, what it is declared as, and what was given.
void check_declared(const tensor::Value& value, ElementType element, const Shape& shape);

/// What the model says of the input `value`, in words: "f32 1x3xheightxwidth".
[[nodiscard]] std::string declared_words(const tensor::Value& value);

}  // namespace plimsoll
