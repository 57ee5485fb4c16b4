// Operators between convolutions, on channels-last images. Why it exists: an image that leaves that
// layout and comes back costs two passes over memory. May touch: rewriter.h, image_node.h.
#pragma once

#include <optional>

#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Emits `node` on the channels-last twins of its operands, where one of them has a twin already
/// and the operator can; false, with nothing emitted, otherwise.
[[nodiscard]] bool lower_image_operator(Rewriter& rewriter, const ProgramNode& node);

/// An operand of an elementwise operator for the channels-last twin of a result of that rank;
/// nothing where it has none.
[[nodiscard]] std::optional<ValueId> channels_last_operand(Rewriter& rewriter, ValueId id,
                                                           std::size_t rank);

}  // namespace plimsoll::tensor
