// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Semantics: ONNX Operators.md.
//
//   scores N×C×D…, labels N×D…, weights C: the loss of one position is −w[label] · log p[label];
//   `mean` divides the sum by the sum of the weights that took part.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/index_view.h"

namespace plimsoll::tensor {
namespace {

enum class Reduction : std::uint8_t { none, sum, mean };

Reduction reduction_of(const Node& node) {
  const std::string name = node.text("reduction", "mean");
  if (name == "none") return Reduction::none;
  if (name == "sum") return Reduction::sum;
  if (name == "mean") return Reduction::mean;
  fail_input(fmt::format("attribute 'reduction' is '{}', not none, sum or mean", name));
}

std::optional<std::int64_t> ignored_label(const Node& node) {
  if (node.attribute("ignore_index") == nullptr) return std::nullopt;
  return node.integer("ignore_index");
}

/// `softmax`: the scores are not logarithms of probabilities yet.
template <bool softmax>
void infer_loss(InferContext& context) {
  check_input_count(context, 2, 3);
  const TensorType& scores = check_type(context, 0, float_types);
  const TensorType& labels = check_type(context, 1, index_types);
  check_rank(context, 0, 2, Shape::max_rank);
  std::vector<std::int64_t> positions = to_vector(scores.shape);
  positions.erase(positions.begin() + 1);
  if (labels.shape != Shape(positions)) {
    fail_input(fmt::format("labels of shape {} do not fit scores of shape {}",
                           labels.shape.to_string(), scores.shape.to_string()));
  }
  if (context.has_input(2)) {
    check_same_type(context, 0, 2);
    if (context.input(2).shape != Shape{scores.shape[1]}) {
      fail_input(fmt::format("weights of shape {} do not fit {} classes",
                             context.input(2).shape.to_string(), scores.shape[1]));
    }
  }
  const bool scalar = reduction_of(context.node()) != Reduction::none;
  context.set_output(0, scores.element, scalar ? Shape{} : labels.shape);
  if constexpr (softmax) context.set_output(1, scores.element, scores.shape);
}

/// The losses of all positions, before they are summed.
std::uint64_t loss_scratch(const InferContext& context) {
  if (reduction_of(context.node()) == Reduction::none) return 0;
  const std::size_t bytes = context.input(0).element == ElementType::f64 ? 8 : 4;
  return checked_bytes(context.input(1).shape, bytes, "losses");
}

void check_labels(const IndexView& labels, std::int64_t classes,
                  std::optional<std::int64_t> ignored) {
  for (std::int64_t at = 0; at < labels.count(); ++at) {
    const std::int64_t label = labels[at];
    if (label != ignored && (label < 0 || label >= classes)) {
      fail_input(fmt::format("label {} is not one of {} classes", label, classes));
    }
  }
}

/// log Σ exp over the classes of one position, in two numbers so that the larger one does not take
/// the digits of the smaller.
template <typename C>
struct LogSum {
  C maximum;
  C logarithm;
  [[nodiscard]] C probability(C score) const { return (score - maximum) - logarithm; }
};

template <typename T>
LogSum<Compute<T>> log_sum(const T* scores, std::int64_t classes, std::int64_t step) {
  using C = Compute<T>;
  C maximum = -std::numeric_limits<C>::infinity();
  for (std::int64_t c = 0; c < classes; ++c) maximum = std::max(maximum, load(scores[c * step]));
  C sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(load(scores[c * step]) - maximum);
  return {maximum, std::log(sum)};
}

template <typename T>
void sum_losses(RunContext& context, const Compute<T>* losses, Reduction reduction,
                std::optional<std::int64_t> ignored) {
  const IndexView labels(context.input(1));
  const T* weights = context.has_input(2) ? context.input(2).as<T>() : nullptr;
  double sum = 0;
  double weight = 0;
  for (std::int64_t at = 0; at < labels.count(); ++at) {
    if (labels[at] == ignored) continue;
    sum += static_cast<double>(losses[at]);
    weight += weights == nullptr ? 1 : static_cast<double>(load(weights[labels[at]]));
  }
  if (reduction == Reduction::mean) sum /= weight;
  *context.output(0).as<T>() = store<T>(static_cast<Compute<T>>(sum));
}

template <bool softmax>
void run_loss(RunContext& context) {
  const Shape& shape = context.input(0).shape;
  const std::int64_t classes = shape[1];
  const std::int64_t inner = shape.product(2, shape.rank());
  const Reduction reduction = reduction_of(context.node());
  const std::optional<std::int64_t> ignored = ignored_label(context.node());
  const IndexView labels(context.input(1));
  check_labels(labels, classes, ignored);
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using C = Compute<T>;
    const T* scores = context.input(0).as<T>();
    const T* weights = context.has_input(2) ? context.input(2).as<T>() : nullptr;
    T* probabilities = softmax && context.has_output(1) ? context.output(1).as<T>() : nullptr;
    C* losses =
        reduction == Reduction::none ? nullptr : reinterpret_cast<C*>(context.scratch().data());
    const std::int64_t grain = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, classes));
    context.threads().parallel_for(
        labels.count(), grain, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
          for (std::int64_t at = begin; at < end; ++at) {
            const std::int64_t first = at / inner * classes * inner + at % inner;
            LogSum<C> sum{0, 0};
            if constexpr (softmax) sum = log_sum(scores + first, classes, inner);
            if (probabilities != nullptr) {
              for (std::int64_t c = 0; c < classes; ++c) {
                const std::int64_t index = first + c * inner;
                probabilities[index] = store<T>(sum.probability(load(scores[index])));
              }
            }
            C loss = 0;
            if (const std::int64_t label = labels[at]; label != ignored) {
              loss = -sum.probability(load(scores[first + label * inner]));
              if (weights != nullptr) loss *= load(weights[label]);
            }
            if (losses != nullptr) {
              losses[at] = loss;
            } else {
              context.output(0).as<T>()[at] = store<T>(loss);
            }
          }
        });
    if (losses != nullptr) sum_losses<T>(context, losses, reduction, ignored);
  });
}

}  // namespace

void register_loss(OperatorTable& table) {
  table.add({.name = "NegativeLogLikelihoodLoss",
             .since_version = 12,
             .infer = infer_loss<false>,
             .run = run_loss<false>,
             .scratch = loss_scratch});
  table.add({.name = "SoftmaxCrossEntropyLoss",
             .since_version = 12,
             .infer = infer_loss<true>,
             .run = run_loss<true>,
             .scratch = loss_scratch});
}

}  // namespace plimsoll::tensor
