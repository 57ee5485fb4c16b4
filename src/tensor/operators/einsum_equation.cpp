#include "tensor/operators/einsum_equation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

constexpr std::string_view dots = "...";

/// Labels are numbers: letters by their code, dimensions of the ellipsis behind all letters,
/// counted from its end, so that they align as broadcasting does.
constexpr std::size_t first_dot = 128;
constexpr std::size_t label_count = first_dot + Shape::max_rank;

struct Term {
  std::string before;  ///< letters left of the ellipsis; all of them where there is none
  std::string after;
  bool has_dots = false;

  [[nodiscard]] std::size_t letters() const { return before.size() + after.size(); }
};

Term read_term(std::string_view text) {
  Term term;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      (term.has_dots ? term.after : term.before).push_back(c);
    } else if (!term.has_dots && text.substr(at).starts_with(dots)) {
      term.has_dots = true;
      at += dots.size() - 1;
    } else {
      fail_input(fmt::format("'{}' is no term of an equation", text));
    }
  }
  return term;
}

std::vector<std::size_t> labels_of(const Term& term, std::size_t dot_rank) {
  std::vector<std::size_t> labels;
  for (const char c : term.before) labels.push_back(static_cast<std::size_t>(c));
  for (std::size_t dot = dot_rank; term.has_dots && dot-- > 0;) labels.push_back(first_dot + dot);
  for (const char c : term.after) labels.push_back(static_cast<std::size_t>(c));
  return labels;
}

std::vector<Term> read_terms(std::string_view left) {
  std::vector<Term> terms;
  for (;;) {
    const std::size_t comma = left.find(',');
    terms.push_back(read_term(left.substr(0, comma)));
    if (comma == std::string_view::npos) return terms;
    left.remove_prefix(comma + 1);
  }
}

/// The right side of an equation without one.
Term implied_output(const std::vector<Term>& terms) {
  std::array<int, first_dot> uses{};
  Term output;
  for (const Term& term : terms) {
    output.has_dots = output.has_dots || term.has_dots;
    for (const char c : term.before + term.after) ++uses[static_cast<std::size_t>(c)];
  }
  for (std::size_t c = 0; c < uses.size(); ++c) {
    if (uses[c] == 1) output.after.push_back(static_cast<char>(c));
  }
  return output;
}

}  // namespace

EinsumEquation::EinsumEquation(std::string_view equation, std::span<const Shape> operands) {
  std::string text(equation);
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::vector<Term> terms = read_terms(std::string_view(text).substr(0, arrow));
  const Term right = arrow == std::string::npos
                         ? implied_output(terms)
                         : read_term(std::string_view(text).substr(arrow + 2));
  if (terms.size() != operands.size()) {
    fail_input(fmt::format("equation '{}' has {} operands, but there are {} inputs", equation,
                           terms.size(), operands.size()));
  }
  std::array<std::optional<Label>, label_count> labels;
  std::size_t most_dots = 0;
  for (std::size_t index = 0; index < terms.size(); ++index) {
    const Shape& operand = operands[index];
    const Term& term = terms[index];
    if (term.letters() > operand.rank() || (!term.has_dots && term.letters() != operand.rank())) {
      fail_input(fmt::format("equation '{}' does not fit input {} of shape {}", equation, index,
                             operand.to_string()));
    }
    const std::size_t dot_rank = operand.rank() - term.letters();
    most_dots = std::max(most_dots, dot_rank);
    const std::vector<std::size_t> own = labels_of(term, dot_rank);
    for (std::size_t axis = 0; axis < own.size(); ++axis) {
      std::optional<Label>& label = labels[own[axis]];
      if (!label) label = Label{1, std::vector<std::int64_t>(operands.size())};
      if (label->size != operand[axis] && label->size != 1 && operand[axis] != 1) {
        fail_input(fmt::format("equation '{}' does not fit input {} of shape {}: {} and {} differ",
                               equation, index, operand.to_string(), label->size, operand[axis]));
      }
      if (operand[axis] == 1) continue;
      label->size = operand[axis];
      label->steps[index] += operand.product(axis + 1, operand.rank());
    }
  }
  std::vector<std::int64_t> dimensions;
  for (const std::size_t number : labels_of(right, right.has_dots ? most_dots : 0)) {
    std::optional<Label>& label = labels[number];
    if (!label) {
      fail_input(
          fmt::format("equation '{}' has a letter twice on its right side, or one that is "
                      "not on its left",
                      equation));
    }
    dimensions.push_back(label->size);
    output.push_back(std::move(*label));
    label.reset();
  }
  for (std::optional<Label>& label : labels) {
    if (label) summed.push_back(std::move(*label));
  }
  shape = Shape(dimensions);
}

}  // namespace plimsoll::tensor
