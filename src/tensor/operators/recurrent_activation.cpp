#include "tensor/operators/recurrent_activation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "plimsoll/error.h"
#include "tensor/operators/vector_math.h"

namespace plimsoll::tensor {
namespace {

struct Entry {
  std::string_view name;
  Activation standard;  ///< with the parameters that hold where none are given
  bool has_alpha = false;
  bool has_beta = false;
};

using Kind = Activation::Kind;

constexpr std::array<Entry, 11> entries{{
    {"Relu", {Kind::relu}},
    {"Tanh", {Kind::tanh}},
    {"Sigmoid", {Kind::sigmoid}},
    {"Affine", {Kind::affine, 1, 0}, true, true},
    {"LeakyRelu", {Kind::leaky_relu, 0.01F}, true},
    {"ThresholdedRelu", {Kind::thresholded_relu, 1}, true},
    {"ScaledTanh", {Kind::scaled_tanh, 1, 1}, true, true},
    {"HardSigmoid", {Kind::hard_sigmoid, 0.2F, 0.5F}, true, true},
    {"Elu", {Kind::elu, 1}, true},
    {"Softsign", {Kind::softsign}},
    {"Softplus", {Kind::softplus}},
}};

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

const Entry& entry_of(std::string_view name) {
  const auto found = std::ranges::find_if(
      entries, [&](const Entry& entry) { return same_letters(entry.name, name); });
  if (found == entries.end()) fail_input(fmt::format("activation '{}' is not known", name));
  return *found;
}

template <typename C, typename F>
void map(C* values, std::int64_t count, const F& function) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = function(values[i]);
}

template <typename C>
void apply_to(const Activation& activation, C* values, std::int64_t count) {
  const auto a = static_cast<C>(activation.alpha);
  const auto b = static_cast<C>(activation.beta);
  switch (activation.kind) {
    case Kind::relu:
      return map(values, count, [](C x) { return x > 0 ? x : C{0}; });
    case Kind::tanh:
      return map(values, count, [](C x) { return vector_math::tanh(x); });
    case Kind::sigmoid:
      return map(values, count, [](C x) { return vector_math::sigmoid(x); });
    case Kind::affine:
      return map(values, count, [=](C x) { return a * x + b; });
    case Kind::leaky_relu:
      return map(values, count, [=](C x) { return x >= 0 ? x : a * x; });
    case Kind::thresholded_relu:
      return map(values, count, [=](C x) { return x >= a ? x : C{0}; });
    case Kind::scaled_tanh:
      return map(values, count, [=](C x) { return a * vector_math::tanh(b * x); });
    case Kind::hard_sigmoid:
      return map(values, count, [=](C x) { return std::clamp(a * x + b, C{0}, C{1}); });
    case Kind::elu:
      return map(values, count, [=](C x) { return x >= 0 ? x : a * (vector_math::exp(x) - 1); });
    case Kind::softsign:
      return map(values, count, [](C x) { return x / (1 + std::abs(x)); });
    case Kind::softplus:
      // The larger term is taken out, so that e^x does not overflow.
      return map(values, count, [](C x) {
        return std::max(x, C{0}) + std::log1p(vector_math::exp(-std::abs(x)));
      });
  }
}

}  // namespace

void Activation::apply(float* values, std::int64_t count) const {
  apply_to(*this, values, count);
}
void Activation::apply(double* values, std::int64_t count) const {
  apply_to(*this, values, count);
}

std::vector<Activation> recurrent_activations(const Node& node, std::int64_t directions,
                                              std::initializer_list<std::string_view> defaults) {
  std::vector<std::string_view> names;
  if (const AttributeValue* attribute = node.attribute("activations"); attribute != nullptr) {
    const auto* given = std::get_if<std::vector<std::string>>(attribute);
    if (given == nullptr) fail_input("attribute 'activations' is not a list of strings");
    names.assign(given->begin(), given->end());
  }
  const std::size_t needed = defaults.size() * static_cast<std::size_t>(directions);
  if (names.empty()) {
    while (names.size() < needed) names.insert(names.end(), defaults);
  }
  // RNN's default names two whatever the direction, so there may be more than are needed.
  if (names.size() < needed) {
    fail_input(
        fmt::format("attribute 'activations' has {} names, {} are needed", names.size(), needed));
  }
  const std::vector<float> alphas = node.reals("activation_alpha");
  const std::vector<float> betas = node.reals("activation_beta");
  std::size_t next_alpha = 0;
  std::size_t next_beta = 0;
  std::vector<Activation> result;
  for (std::size_t index = 0; index < needed; ++index) {
    const Entry& entry = entry_of(names[index]);
    Activation activation = entry.standard;
    if (entry.has_alpha && next_alpha < alphas.size()) activation.alpha = alphas[next_alpha++];
    if (entry.has_beta && next_beta < betas.size()) activation.beta = betas[next_beta++];
    result.push_back(activation);
  }
  return result;
}

}  // namespace plimsoll::tensor
