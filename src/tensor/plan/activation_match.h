// Activations that a kernel's epilogue can take over. May touch: graph/program.h,
// kernels/epilogue.h.
#pragma once

#include <optional>

#include "tensor/graph/program.h"
#include "tensor/kernels/epilogue.h"

namespace plimsoll::tensor {

struct ActivationMatch {
  kernels::Activation activation = kernels::Activation::none;
  float low = 0;
  float high = 0;
};
/// The node as an activation of its input 0; nothing where it is none, or its parameters are not
/// known.
[[nodiscard]] std::optional<ActivationMatch> match_activation(Program& program,
                                                              const ProgramNode& node);

}  // namespace plimsoll::tensor
