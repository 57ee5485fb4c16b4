#include "tensor/run/prepare_program.h"

#include "tensor/plan/execution_order.h"
#include "tensor/plan/unused_nodes.h"

namespace plimsoll::tensor {

void prepare_program(Program& program, const ExecutionServices& services) {
  if (services.transform) services.transform(program);
  remove_unused_nodes(program);
  order_for_peak(program, services.threads->threads());
}

}  // namespace plimsoll::tensor
