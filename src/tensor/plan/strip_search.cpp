#include "tensor/plan/strip_search.h"

#include <algorithm>
#include <cmath>
#include <compare>

namespace plimsoll::tensor {
namespace {

/// Heights that are tried, in rows of the tallest result of a group.
constexpr std::int64_t heights[] = {32, 16, 8, 4, 2, 1};
/// The height that groups are looked for with.
constexpr std::int64_t search_height = 4;
/// A group is grown from the peak outwards: this many distances are tried at either end, which are
/// then moved node by node.
constexpr std::size_t most_ends = 10;
constexpr int most_groups = 24;

/// How good a choice is: its peak, then how much there is elsewhere near the peak, so that one of
/// several equal peaks can be lowered before the others.
struct Score {
  std::uint64_t peak = 0;
  double crowd = 0;
  friend auto operator<=>(const Score&, const Score&) = default;
};

class Search {
 public:
  Search(Program& program, const StageOptions& options)
      : program_(program), options_(options), facts_(strip_facts(program)) {
    options_.strips.clear();
  }

  std::vector<StripGroup> run(const StripTarget& target) {
    best_ = score_of({});
    scale_ = static_cast<double>(std::max<std::uint64_t>(best_.peak, 1));
    best_ = score_of({});
    for (int round = 0; round < most_groups && best_.peak > target.bytes; ++round) {
      if (!improve()) break;
    }
    fit_heights(target);
    return groups_;
  }

 private:
  Score score_of(std::vector<StripGroup> groups) {
    options_.strips = std::move(groups);
    live_ = estimate_stage(program_, facts_, options_);
    Score score;
    for (std::uint64_t bytes : live_) {
      score.peak = std::max(score.peak, bytes);
      score.crowd += std::pow(static_cast<double>(bytes) / scale_, 8);
    }
    return score;
  }

  /// The groups with those that `fresh` covers replaced by it; empty where it cuts one.
  std::vector<StripGroup> with(const StripGroup& fresh) const {
    std::vector<StripGroup> groups;
    for (const StripGroup& group : groups_) {
      if (group.last <= fresh.first || group.first >= fresh.last) {
        groups.push_back(group);
      } else if (group.first < fresh.first || group.last > fresh.last) {
        return {};
      }
    }
    groups.push_back(fresh);
    std::ranges::sort(groups, {}, &StripGroup::first);
    return groups;
  }

  /// Takes the group where it lowers the peak, or leaves it and shortens the work at the peak.
  bool consider(std::uint32_t first, std::uint32_t last) {
    const StripGroup fresh{first, last, search_height};
    if (last <= first + 1 || !StripWalk::of(program_, facts_, fresh)) return false;
    std::vector<StripGroup> groups = with(fresh);
    if (groups.empty()) return false;
    const Score score = score_of(groups);
    if (score >= found_) return false;
    found_ = score;
    candidate_ = std::move(groups);
    candidate_first_ = first;
    candidate_last_ = last;
    return true;
  }

  /// Distances 0, 1, 2, 3, 5, 8 … up to `room`.
  static std::vector<std::uint32_t> distances(std::uint32_t room) {
    std::vector<std::uint32_t> list;
    std::uint32_t distance = 0;
    std::uint32_t step = 1;
    while (distance < room && list.size() + 1 < most_ends) {
      list.push_back(distance);
      distance += step;
      step += list.size() > 2 ? (step + 1) / 2 : 0;
    }
    list.push_back(room);
    return list;
  }

  bool improve() {
    (void)score_of(groups_);
    const std::vector<std::uint64_t> live = live_;
    const auto peak = static_cast<std::uint32_t>(std::ranges::max_element(live) - live.begin());
    if (peak >= facts_.row_wise.size() || !facts_.row_wise[peak]) return false;
    // Everything row-wise around the peak; a group that holds the peak is grown as a whole.
    std::uint32_t inner_first = peak;
    std::uint32_t inner_last = peak + 1;
    for (const StripGroup& group : groups_) {
      if (group.first <= peak && peak < group.last) {
        inner_first = group.first;
        inner_last = group.last;
      }
    }
    std::uint32_t outer_first = inner_first;
    while (outer_first > 0 && facts_.row_wise[outer_first - 1]) --outer_first;
    std::uint32_t outer_last = inner_last;
    while (outer_last < facts_.row_wise.size() && facts_.row_wise[outer_last]) ++outer_last;
    found_ = best_;
    candidate_.clear();
    for (std::uint32_t before : distances(inner_first - outer_first)) {
      for (std::uint32_t after : distances(outer_last - inner_last)) {
        (void)consider(inner_first - before, inner_last + after);
      }
    }
    if (candidate_.empty()) return false;
    refine(inner_first, inner_last, outer_first, outer_last);
    groups_ = candidate_;
    best_ = found_;
    return true;
  }

  /// Moves the ends of the candidate node by node while that helps.
  void refine(std::uint32_t inner_first, std::uint32_t inner_last, std::uint32_t outer_first,
              std::uint32_t outer_last) {
    for (bool moved = true; moved;) {
      moved = false;
      const std::uint32_t first = candidate_first_;
      const std::uint32_t last = candidate_last_;
      if (first > outer_first) moved = consider(first - 1, last) || moved;
      if (first < inner_first) moved = consider(first + 1, last) || moved;
      if (last < outer_last) moved = consider(first, last + 1) || moved;
      if (last > inner_last) moved = consider(first, last - 1) || moved;
    }
  }

  /// The tallest strips that keep to the target; where none does, the tallest of those that need
  /// at most `slack` more than the least.
  void fit_heights(const StripTarget& target) {
    if (groups_.empty()) return;
    const auto with_height = [&](std::int64_t rows) {
      std::vector<StripGroup> groups = groups_;
      for (StripGroup& group : groups) group.rows = rows;
      return groups;
    };
    // The arena may be larger than what is alive at once: from here on its real size counts.
    const auto arena = [&](std::vector<StripGroup> groups) {
      options_.strips = std::move(groups);
      return stage_arena_bytes(program_, facts_, options_);
    };
    const std::uint64_t without = arena({});
    std::uint64_t bytes[std::size(heights)];
    std::uint64_t least = without;
    for (std::size_t index = 0; index < std::size(heights); ++index) {
      bytes[index] = arena(with_height(heights[index]));
      least = std::min(least, bytes[index]);
    }
    const auto slack = static_cast<std::uint64_t>(static_cast<double>(least) * target.slack);
    const std::uint64_t most = std::max(target.bytes, least + slack);
    if (without <= most) {
      groups_.clear();
      return;
    }
    for (std::size_t index = 0; index < std::size(heights); ++index) {
      if (bytes[index] > most) continue;
      groups_ = with_height(heights[index]);
      return;
    }
  }

  Program& program_;
  StageOptions options_;
  StripFacts facts_;
  std::vector<StripGroup> groups_;
  Score best_;
  double scale_ = 1;
  std::vector<std::uint64_t> live_;
  // The best found while improving:
  Score found_;
  std::vector<StripGroup> candidate_;
  std::uint32_t candidate_first_ = 0;
  std::uint32_t candidate_last_ = 0;
};

}  // namespace

std::vector<StripGroup> choose_strips(Program& program, const StageOptions& options,
                                      const StripTarget& target) {
  return Search(program, options).run(target);
}

}  // namespace plimsoll::tensor
