#include "tensor/plan/lowering.h"

#include "tensor/plan/activation_product_lowering.h"
#include "tensor/plan/elementwise_lowering.h"
#include "tensor/plan/epilogue_fusion.h"
#include "tensor/plan/half_widening.h"
#include "tensor/plan/image_lowering.h"
#include "tensor/plan/integer_product_lowering.h"
#include "tensor/plan/operator_patterns.h"
#include "tensor/plan/product_lowering.h"
#include "tensor/plan/rewriter.h"
#include "tensor/plan/row_node.h"

namespace plimsoll::tensor {

void lower_program(Program& program, kernels::Target target) {
  widen_halves(program);
  contract_patterns(program);
  Rewriter rewriter(program, target);
  for (ProgramNode& node : rewriter.take_nodes()) {
    const bool plain = node.kernel == nullptr && node.definition != nullptr;
    if (plain &&
        (fuse_into_epilogue(rewriter, node) || lower_product(rewriter, node) ||
         lower_integer_product(rewriter, node) || lower_activation_product(rewriter, node) ||
         fuse_output_transpose(rewriter, node) || lower_row_operator(rewriter, node) ||
         lower_elementwise_chain(rewriter, node) || lower_image_operator(rewriter, node))) {
      continue;
    }
    rewriter.emit_original(std::move(node));
  }
  rewriter.finish();
}

}  // namespace plimsoll::tensor
