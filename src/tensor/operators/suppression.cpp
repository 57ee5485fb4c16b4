// NonMaxSuppression: of boxes that overlap, the ones with the best scores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/selection.h"

namespace plimsoll::tensor {
namespace {

struct Box {
  float top;
  float left;
  float bottom;
  float right;
};

/// Four numbers as corners: [y1, x1, y2, x2] in any order of the corners, or with
/// `center_point_box` [x, y, width, height].
Box corners(const float* numbers, bool center) {
  if (center) {
    const float half_width = numbers[2] / 2;
    const float half_height = numbers[3] / 2;
    return {numbers[1] - half_height, numbers[0] - half_width, numbers[1] + half_height,
            numbers[0] + half_width};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]),
          std::max(numbers[0], numbers[2]), std::max(numbers[1], numbers[3])};
}

/// Intersection over union; 0 where either box is empty.
float overlap(const Box& a, const Box& b) {
  const float area_a = (a.bottom - a.top) * (a.right - a.left);
  const float area_b = (b.bottom - b.top) * (b.right - b.left);
  if (!(area_a > 0) || !(area_b > 0)) return 0;
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0) || !(width > 0)) return 0;
  const float shared = height * width;
  return shared / (area_a + area_b - shared);
}

struct Selection {
  std::int64_t batch;
  std::int64_t type;
  std::int64_t box;
};

struct Settings {
  std::int64_t most = 0;  // boxes for each class of each batch
  float overlap = 0;
  std::optional<float> score;
  bool center = false;
};

std::vector<Selection> select(const ConstTensorView& boxes, const ConstTensorView& scores,
                              const Settings& settings) {
  const std::int64_t count = boxes.shape[1];
  const std::int64_t classes = scores.shape[1];
  std::vector<Selection> selected;
  std::vector<std::int64_t> order;
  for (std::int64_t batch = 0; batch < boxes.shape[0]; ++batch) {
    const float* corner_data = boxes.as<float>() + batch * count * 4;
    for (std::int64_t type = 0; type < classes; ++type) {
      const float* score = scores.as<float>() + (batch * classes + type) * count;
      order.clear();
      for (std::int64_t box = 0; box < count; ++box) {
        // A NaN score is never chosen, and would break the order.
        const bool wanted =
            settings.score ? score[box] > *settings.score : score[box] == score[box];
        if (wanted) order.push_back(box);
      }
      std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
        return score[a] != score[b] ? score[a] > score[b] : a < b;
      });
      const std::size_t first = selected.size();
      for (std::int64_t box : order) {
        if (static_cast<std::int64_t>(selected.size() - first) >= settings.most) break;
        const Box candidate = corners(corner_data + box * 4, settings.center);
        const bool kept = std::none_of(
            selected.begin() + static_cast<std::ptrdiff_t>(first), selected.end(),
            [&](const Selection& other) {
              return overlap(candidate, corners(corner_data + other.box * 4, settings.center)) >
                     settings.overlap;
            });
        if (kept) selected.push_back({batch, type, box});
      }
    }
  }
  return selected;
}

/// `value(index)` gives the view of an optional input.
template <typename F>
Settings settings_of(const Node& node, const F& value) {
  Settings settings;
  if (const auto most = value(2)) settings.most = read_integers(*most).at(0);
  if (const auto limit = value(3)) settings.overlap = read_floats(*limit).at(0);
  if (const auto score = value(4)) settings.score = read_floats(*score).at(0);
  settings.center = node.integer("center_point_box", 0) != 0;
  if (!(settings.overlap >= 0 && settings.overlap <= 1)) {
    fail_input(fmt::format("iou_threshold is {}, it must be in 0 to 1", settings.overlap));
  }
  return settings;
}

void infer_suppression(InferContext& context) {
  check_input_count(context, 2, 5);
  const TensorType& boxes = check_type(context, 0, TypeSet{ElementType::f32});
  const TensorType& scores = check_type(context, 1, TypeSet{ElementType::f32});
  check_rank(context, 0, 3, 3);
  check_rank(context, 1, 3, 3);
  for (std::size_t index = 2; index < 5; ++index) {
    if (context.has_input(index)) check_scalar(context, index);
  }
  if (boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] ||
      boxes.shape[1] != scores.shape[2]) {
    fail_input(fmt::format("boxes of shape {} and scores of shape {} do not match",
                           boxes.shape.to_string(), scores.shape.to_string()));
  }
  const Settings settings =
      settings_of(context.node(), [&](std::size_t index) -> std::optional<ConstTensorView> {
        if (!context.has_input(index)) return std::nullopt;
        return context.require_value(index);
      });
  const auto selected = select(context.require_value(0), context.require_value(1), settings);
  context.set_output(0, ElementType::i64, Shape{static_cast<std::int64_t>(selected.size()), 3});
}

void run_suppression(RunContext& context) {
  const Settings settings =
      settings_of(context.node(), [&](std::size_t index) -> std::optional<ConstTensorView> {
        if (!context.has_input(index)) return std::nullopt;
        return context.input(index);
      });
  auto* to = context.output(0).as<std::int64_t>();
  for (const Selection& one : select(context.input(0), context.input(1), settings)) {
    *to++ = one.batch;
    *to++ = one.type;
    *to++ = one.box;
  }
}

}  // namespace

void register_suppression(OperatorTable& table) {
  for (int version : {10, 11}) {
    table.add({.name = "NonMaxSuppression",
               .since_version = version,
               .infer = infer_suppression,
               .run = run_suppression});
  }
}

}  // namespace plimsoll::tensor
