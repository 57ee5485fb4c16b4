#include "tensor/plan/unused_nodes.h"

#include <algorithm>
#include <vector>

namespace plimsoll::tensor {

void remove_unused_nodes(Program& program) {
  std::vector<bool> value_needed(program.values.size(), false);
  std::vector<bool> needed(program.nodes.size(), false);
  for (ValueId id : program.live_out) value_needed[id] = true;
  for (std::size_t number = program.nodes.size(); number-- > 0;) {
    const ProgramNode& node = program.nodes[number];
    needed[number] = std::ranges::any_of(
        node.outputs, [&](ValueId id) { return id != no_value && value_needed[id]; });
    if (!needed[number]) continue;
    for (ValueId id : node.inputs) {
      if (id != no_value) value_needed[id] = true;
    }
  }
  std::size_t number = 0;
  std::erase_if(program.nodes, [&](const ProgramNode&) { return !needed[number++]; });
}

}  // namespace plimsoll::tensor
