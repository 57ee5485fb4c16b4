#include "tensor/plan/strips.h"

#include <algorithm>

#include "tensor/plan/row_form.h"

namespace plimsoll::tensor {
RowRange StripWalk::rows_of(const Program& program, const Edge& edge, RowRange output) const {
  return *input_rows(program, program.nodes[group_.first + edge.node], edge.input, output);
}

bool StripWalk::collect(const Program& program, const StripFacts& facts) {
  const std::size_t count = group_.last - group_.first;
  readers_.resize(count);
  ranges_.resize(count);
  std::int64_t tallest = 0;
  for (std::size_t index = 0; index < count; ++index) {
    const std::uint32_t number = group_.first + static_cast<std::uint32_t>(index);
    if (!facts.row_wise[number]) return false;
    const ProgramNode& node = program.nodes[number];
    const Shape& shape = program.values[node.outputs[0]].type.shape;
    if (index == 0) items_ = shape[0];
    if (shape[0] != items_) return false;
    height_.push_back(shape[1]);
    const auto& consumers = facts.consumers[number];
    const bool outside =
        std::ranges::any_of(consumers, [&](std::uint32_t c) { return c >= group_.last; });
    whole_.push_back(facts.kept[number] || outside || consumers.empty());
    if (whole_.back()) tallest = std::max(tallest, shape[1]);
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      if (node.inputs[input] == no_value) continue;
      const std::int32_t maker = facts.maker[node.inputs[input]];
      if (maker < static_cast<std::int32_t>(group_.first)) continue;
      if (!input_rows(program, node, input, {0, 1})) return false;
      readers_[static_cast<std::uint32_t>(maker) - group_.first].push_back({index, input});
    }
  }
  rounds_ = (tallest + group_.rows - 1) / group_.rows;
  return rounds_ > 0;
}

std::optional<StripWalk> StripWalk::of(const Program& program, const StripFacts& facts,
                                       const StripGroup& group) {
  if (group.rows < 1 || group.last <= group.first || group.last > program.nodes.size()) {
    return std::nullopt;
  }
  StripWalk walk;
  walk.group_ = group;
  if (!walk.collect(program, facts)) return std::nullopt;
  return walk;
}

void StripWalk::restart() {
  round_ = 0;
  std::ranges::fill(ranges_, RowRange{});
}

bool StripWalk::next(const Program& program) {
  if (round_ == rounds_) return false;
  ++round_;
  for (RowRange& range : ranges_) range.begin = range.end;
  // From the results backwards: how far each node must have come at the end of the round.
  for (std::size_t node = ranges_.size(); node-- > 0;) {
    std::int64_t end = ranges_[node].begin;
    if (whole_[node]) end = std::max(end, (height_[node] * round_ + rounds_ - 1) / rounds_);
    for (const Edge& edge : readers_[node]) {
      const RowRange& wanted = ranges_[edge.node];
      if (wanted.begin != wanted.end) end = std::max(end, rows_of(program, edge, wanted).end);
    }
    ranges_[node].end = std::min(end, height_[node]);
  }
  return true;
}

std::int64_t StripWalk::oldest(const Program& program, std::size_t node) const {
  // Readers come after this node within a round, so they still need what this round reads.
  std::int64_t oldest = ranges_[node].end;
  for (const Edge& edge : readers_[node]) {
    const RowRange& range = ranges_[edge.node];
    if (range.begin == height_[edge.node]) continue;
    const RowRange wanted{range.begin, std::max(range.end, range.begin + 1)};
    oldest = std::min(oldest, rows_of(program, edge, wanted).begin);
  }
  return oldest;
}

std::vector<std::int64_t> ring_rows(const Program& program, StripWalk walk) {
  std::vector<std::int64_t> rows(walk.ranges().size(), 0);
  while (walk.next(program)) {
    for (std::size_t node = 0; node < rows.size(); ++node) {
      if (walk.whole(node)) continue;
      // What a round makes must fit whole, rows that nobody reads included: they are not made in
      // order.
      const RowRange& made = walk.ranges()[node];
      const std::int64_t held = made.end - std::min(made.begin, walk.oldest(program, node));
      rows[node] = std::max({rows[node], held, std::int64_t{1}});
    }
  }
  return rows;
}

StripFacts strip_facts(const Program& program) {
  StripFacts facts;
  facts.maker.assign(program.values.size(), -1);
  facts.consumers.resize(program.nodes.size());
  facts.kept.assign(program.nodes.size(), false);
  for (std::uint32_t number = 0; number < program.nodes.size(); ++number) {
    const ProgramNode& node = program.nodes[number];
    facts.row_wise.push_back(row_wise(program, node));
    for (ValueId id : node.inputs) {
      if (id == no_value || facts.maker[id] < 0) continue;
      auto& consumers = facts.consumers[static_cast<std::uint32_t>(facts.maker[id])];
      if (consumers.empty() || consumers.back() != number) consumers.push_back(number);
    }
    for (ValueId id : node.outputs) {
      if (id != no_value) facts.maker[id] = static_cast<std::int32_t>(number);
    }
  }
  for (ValueId id : program.live_out) {
    if (facts.maker[id] >= 0) facts.kept[static_cast<std::uint32_t>(facts.maker[id])] = true;
  }
  return facts;
}

}  // namespace plimsoll::tensor
