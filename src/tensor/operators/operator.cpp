#include "tensor/operators/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"

namespace plimsoll::tensor {
namespace {

using Key = std::tuple<std::string_view, std::string_view, int>;

Key key_of(const Operator& definition) {
  return {definition.domain, definition.name, definition.since_version};
}

OperatorTable make_builtin() {
  OperatorTable table;
  register_elementwise_unary(table);
  register_elementwise_binary(table);
  register_casting(table);
  register_shaping(table);
  register_indexing(table);
  register_reduction(table);
  register_generation(table);
  register_selection(table);
  register_linear_algebra(table);
  register_convolution(table);
  register_pooling(table);
  register_normalization(table);
  register_resizing(table);
  register_recurrent(table);
  register_quantization(table);
  register_signal(table);
  register_loss(table);
  register_sequences(table);
  return table;
}

}  // namespace

std::vector<std::int64_t> InferContext::require_integers(std::size_t index) const {
  return read_integers(require_value(index));
}

std::vector<float> InferContext::require_floats(std::size_t index) const {
  return read_floats(require_value(index));
}

void OperatorTable::add(Operator definition) {
  const Key key = key_of(definition);
  const auto place = std::ranges::lower_bound(operators_, key, {}, key_of);
  if (place != operators_.end() && key_of(*place) == key) {
    fail_internal(fmt::format("operator '{}' version {} is defined twice", definition.name,
                              definition.since_version));
  }
  operators_.insert(place, definition);
}

const Operator* OperatorTable::find(std::string_view domain, std::string_view name,
                                    int version) const {
  // The table is sorted by key, so the wanted definition is the last one not behind it.
  const Key key{domain, name, version};
  const auto behind = std::ranges::upper_bound(operators_, key, {}, key_of);
  if (behind == operators_.begin()) return nullptr;
  const Operator& candidate = *std::prev(behind);
  return candidate.domain == domain && candidate.name == name ? &candidate : nullptr;
}

const OperatorTable& OperatorTable::builtin() {
  static const OperatorTable table = make_builtin();
  return table;
}

}  // namespace plimsoll::tensor
