#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/state.h"
#include "plimsoll/engine.h"
#include "tensor/kernels/target.h"
#include "tensor/operators/operator.h"

namespace plimsoll {
namespace {

ValueInfo value_info(const tensor::Value& value) {
  ValueInfo info;
  info.name = value.name;
  if (!value.declared) return info;
  info.element = value.declared->element;
  info.is_sequence = value.declared->kind == tensor::DeclaredType::Kind::sequence;
  if (value.declared->dimensions) {
    info.dimensions.emplace();
    for (const tensor::Dimension& dimension : *value.declared->dimensions) {
      info.dimensions->push_back({dimension.value, dimension.symbol});
    }
  }
  return info;
}

void count_graph(const tensor::Graph& graph, ModelInfo& info,
                 std::set<const tensor::StoredTensor*>& seen, std::set<std::string>& unsupported) {
  for (const tensor::Value& value : graph.values) {
    if (!value.stored || !seen.insert(value.stored.get()).second) continue;
    WeightInfo weight;
    weight.name = value.stored->name.empty() ? value.name : value.stored->name;
    weight.element = value.stored->type;
    weight.shape = value.stored->shape;
    weight.source_bytes = value.stored->source_bytes();
    if (const auto* range = std::get_if<tensor::FileRange>(&value.stored->source)) {
      weight.source = fmt::format("{}:{}+{}", range->file->path(), range->offset, range->length);
    } else {
      weight.source = "inline";
    }
    info.weights.push_back(std::move(weight));
  }
  const tensor::OperatorTable& table = tensor::OperatorTable::builtin();
  for (const tensor::Node& node : graph.nodes) {
    const std::string name =
        node.domain.empty() ? node.op_type : fmt::format("{}.{}", node.domain, node.op_type);
    ++info.operators[name];
    const bool control = node.domain.empty() && node.op_type == "If";
    if (!control && table.find(node.domain, node.op_type, node.opset) == nullptr) {
      unsupported.insert(name);
    }
    for (const auto& [key, attribute] : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<const tensor::Graph>>(&attribute)) {
        count_graph(**body, info, seen, unsupported);
      }
    }
  }
}

}  // namespace

std::vector<std::string> target_names() {
  return tensor::kernels::supported_targets();
}

ModelInfo Model::info() const {
  const tensor::ModelGraph& graph = *state_->graph;
  ModelInfo info;
  info.path = graph.path;
  info.producer = graph.producer;
  info.ir_version = graph.ir_version;
  info.opsets = graph.opsets;
  for (tensor::ValueId id : graph.main.inputs) {
    info.inputs.push_back(value_info(graph.main.values[id]));
  }
  for (tensor::ValueId id : graph.main.outputs) {
    info.outputs.push_back(value_info(graph.main.values[id]));
  }
  std::set<const tensor::StoredTensor*> seen;
  std::set<std::string> unsupported;
  count_graph(graph.main, info, seen, unsupported);
  info.unsupported.assign(unsupported.begin(), unsupported.end());
  return info;
}

}  // namespace plimsoll
