#include "room.h"

#include <vector>

namespace line_detection {
namespace {

/// In metres: x to the right, y up from the floor, z away from the eye.
struct Place {
  float x = 0;
  float y = 0;
  float z = 0;
};

constexpr float left_wall = -2.6F;
constexpr float right_wall = 2.9F;
constexpr float ceiling = 2.7F;
constexpr float back_wall = 6.2F;
constexpr float near_edge = 0.5F;

class Painter {
 public:
  explicit Painter(Canvas& canvas) : canvas_(canvas) {}

  /// A flat face between corners in order.
  void face(std::initializer_list<Place> corners, Color color) {
    std::vector<Point> polygon;
    for (const Place& corner : corners) polygon.push_back(project(corner));
    canvas_.fill(polygon, color);
  }

  /// A panel in the plane of the back wall, at depth z.
  void back_panel(float x0, float x1, float y0, float y1, float z, Color color) {
    face({{x0, y0, z}, {x1, y0, z}, {x1, y1, z}, {x0, y1, z}}, color);
  }
  /// A panel in a plane of constant x, as the side walls are.
  void side_panel(float x, float y0, float y1, float z0, float z1, Color color) {
    face({{x, y0, z0}, {x, y0, z1}, {x, y1, z1}, {x, y1, z0}}, color);
  }
  void floor_panel(float x0, float x1, float y, float z0, float z1, Color color) {
    face({{x0, y, z0}, {x1, y, z0}, {x1, y, z1}, {x0, y, z1}}, color);
  }
  /// A box that stands between the two corners: its top, the side that faces the middle of the
  /// room, and its front.
  void box(Place low, Place high, Color color) {
    if (high.x < eye_x) side_panel(high.x, low.y, high.y, low.z, high.z, shade(color, 0.78F));
    if (low.x > eye_x) side_panel(low.x, low.y, high.y, low.z, high.z, shade(color, 0.70F));
    if (high.y < eye_y) floor_panel(low.x, high.x, high.y, low.z, high.z, shade(color, 1.12F));
    back_panel(low.x, high.x, low.y, high.y, low.z, color);
  }

  [[nodiscard]] static Color shade(Color color, float light) {
    for (float& c : color) c *= light;
    return color;
  }

 private:
  static constexpr float eye_x = 0.25F;
  static constexpr float eye_y = 1.45F;

  [[nodiscard]] Point project(const Place& place) const {
    const float size = static_cast<float>(canvas_.width());
    const float scale = 0.66F * size / place.z;
    return {size / 2 + (place.x - eye_x) * scale,
            static_cast<float>(canvas_.height()) * 0.47F - (place.y - eye_y) * scale};
  }

  Canvas& canvas_;
};

void draw_shell(Painter& painter) {
  painter.floor_panel(left_wall, right_wall, 0, near_edge, back_wall, {150, 112, 76});
  constexpr int boards = 11;
  for (int board = 0; board < boards; board += 2) {
    const float width = (right_wall - left_wall) / boards;
    const float x = left_wall + width * static_cast<float>(board);
    painter.floor_panel(x, x + width, 0, near_edge, back_wall, {138, 101, 67});
  }
  painter.floor_panel(left_wall, right_wall, ceiling, near_edge, back_wall, {236, 234, 228});
  painter.side_panel(left_wall, 0, ceiling, near_edge, back_wall, {186, 196, 186});
  painter.side_panel(right_wall, 0, ceiling, near_edge, back_wall, {160, 172, 164});
  painter.back_panel(left_wall, right_wall, 0, ceiling, back_wall, {206, 214, 203});
  constexpr Color skirting{238, 236, 230};
  painter.back_panel(left_wall, right_wall, 0, 0.14F, back_wall, skirting);
  painter.side_panel(left_wall, 0, 0.14F, near_edge, back_wall, Painter::shade(skirting, 0.9F));
  painter.side_panel(right_wall, 0, 0.14F, near_edge, back_wall, Painter::shade(skirting, 0.8F));
}

void draw_openings(Painter& painter) {
  // A door in the left wall, with its frame and two fields.
  painter.side_panel(left_wall, 0, 2.12F, 4.15F, 5.25F, {240, 238, 232});
  painter.side_panel(left_wall, 0, 2.02F, 4.25F, 5.15F, {122, 84, 58});
  painter.side_panel(left_wall, 0.25F, 0.9F, 4.42F, 4.98F, {104, 70, 47});
  painter.side_panel(left_wall, 1.1F, 1.85F, 4.42F, 4.98F, {104, 70, 47});
  // A window of four panes in the right wall.
  painter.side_panel(right_wall, 0.85F, 2.25F, 2.6F, 4.6F, {244, 243, 240});
  for (const float z : {2.72F, 3.65F}) {
    painter.side_panel(right_wall, 0.97F, 1.5F, z, z + 0.83F, {150, 190, 224});
    painter.side_panel(right_wall, 1.6F, 2.13F, z, z + 0.83F, {176, 208, 234});
  }
  // A window in the back wall.
  painter.back_panel(0.55F, 2.25F, 0.95F, 2.2F, back_wall, {244, 243, 240});
  for (const float x : {0.65F, 1.45F}) {
    painter.back_panel(x, x + 0.7F, 1.05F, 2.1F, back_wall, {170, 205, 233});
  }
}

void draw_furniture(Painter& painter) {
  // A picture on the back wall.
  painter.back_panel(-1.75F, -0.35F, 1.25F, 2.15F, back_wall, {66, 52, 44});
  painter.back_panel(-1.67F, -0.43F, 1.33F, 2.07F, back_wall, {214, 176, 92});
  painter.back_panel(-1.67F, -0.43F, 1.33F, 1.6F, back_wall, {92, 120, 92});
  // A low cupboard below it, with two doors.
  painter.box({-1.9F, 0, 5.5F}, {0.1F, 0.8F, back_wall}, {176, 138, 98});
  painter.back_panel(-1.84F, -0.95F, 0.08F, 0.74F, 5.5F, {160, 122, 84});
  painter.back_panel(-0.87F, 0.04F, 0.08F, 0.74F, 5.5F, {160, 122, 84});
  // A shelf of books by the right wall.
  painter.box({2.3F, 0, 4.9F}, {right_wall, 2.3F, 5.9F}, {104, 80, 64});
  for (const float y : {0.1F, 0.65F, 1.2F, 1.75F}) {
    painter.side_panel(2.3F, y, y + 0.45F, 5.0F, 5.8F, {70, 52, 42});
    painter.side_panel(2.3F, y, y + 0.36F, 5.05F, 5.4F, {156, 66, 56});
    painter.side_panel(2.3F, y, y + 0.3F, 5.45F, 5.75F, {70, 96, 130});
  }
  // A rug, and a table on it.
  painter.floor_panel(-1.35F, 1.55F, 0, 2.7F, 4.9F, {142, 62, 58});
  painter.floor_panel(-1.2F, 1.4F, 0, 2.85F, 4.75F, {178, 150, 120});
  constexpr Color wood{196, 156, 108};
  for (const float z : {4.1F, 3.1F}) {
    painter.box({-0.75F, 0, z}, {-0.65F, 0.7F, z + 0.1F}, Painter::shade(wood, 0.8F));
    painter.box({1.05F, 0, z}, {1.15F, 0.7F, z + 0.1F}, Painter::shade(wood, 0.8F));
  }
  painter.box({-0.85F, 0.7F, 3.0F}, {1.25F, 0.78F, 4.3F}, wood);
  painter.box({-0.3F, 0.78F, 3.5F}, {0.2F, 0.86F, 3.85F}, {58, 84, 120});
  // A lamp over the table.
  painter.back_panel(0.18F, 0.2F, 2.1F, ceiling, 3.6F, {60, 60, 60});
  painter.face(
      {{-0.1F, 1.85F, 3.6F}, {0.48F, 1.85F, 3.6F}, {0.32F, 2.1F, 3.6F}, {0.06F, 2.1F, 3.6F}},
      {232, 190, 92});
}

}  // namespace

Canvas draw_room(int width, int height) {
  Canvas canvas(width, height);
  Painter painter(canvas);
  draw_shell(painter);
  draw_openings(painter);
  draw_furniture(painter);
  canvas.grain(4);
  return canvas;
}

}  // namespace line_detection
