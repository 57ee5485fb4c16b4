// The demo's subject: a furnished room in perspective, drawn from boxes and panels. Why it exists:
// the model finds the straight edges of rooms and houses. May touch: canvas.h.
#pragma once

#include "canvas.h"

namespace line_detection {

/// The room, filling the picture; the same every time.
[[nodiscard]] Canvas draw_room(int width, int height);

}  // namespace line_detection
