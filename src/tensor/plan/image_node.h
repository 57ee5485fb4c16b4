// Poolings and resizes on channels-last images. Why it exists: their references walk channel
// planes; here the innermost loop runs over channels. May touch: kernel_node.h,
// operators/spatial.h.
#pragma once

#include <memory>

#include "tensor/kernels/target.h"
#include "tensor/plan/kernel_node.h"

namespace plimsoll::tensor {

/// A kernel for MaxPool, AveragePool, GlobalAveragePool and two-dimensional linear or nearest
/// Resize of f32 images; null where the node is none of these or has options that these kernels
/// lack.
[[nodiscard]] std::shared_ptr<KernelNode> make_image_node(Program& program, const ProgramNode& node,
                                                          kernels::Target target);

}  // namespace plimsoll::tensor
