// The timeline as a picture. Why it exists: somebody who has never seen one shall read from it how
// high memory went, when, what held it, and how far the limit was. May touch: timeline.h, size.h.
//
//   title: what ran, limit, predicted and kernel's peak
//   ┌ import ┬─ encode ──┬─ run ─────────────┐  limit ─────
//   │        │        ╱──┼──╲____╱② ╲___     │  predicted peak
//   │      ① │ ╱─────╱   │                   │  kernel's peak
//   └────────┴───────────┴───────────────────┘
//   what made each peak, in words
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "memory/timeline.h"

namespace plimsoll::memory {

/// What the picture says beside the timeline's own figures. Bytes are those of the whole process.
struct TimelineFacts {
  std::string name;                        ///< what ran: the model's file name; any bytes
  std::uint64_t limit_bytes = 0;           ///< as it applies to the whole process; 0: none
  std::string limit_source;                ///< "option", "cgroup", "available"; may be empty
  std::uint64_t base_bytes = 0;            ///< the process before the model was opened
  std::uint64_t predicted_peak_bytes = 0;  ///< 0: not known
  std::uint64_t kernel_peak_bytes = 0;     ///< VmHWM at the end
};

/// An SVG document (https://www.w3.org/TR/SVG11/), text in UTF-8, no scripts, nothing loaded from
/// elsewhere. Short phases are drawn wider than their share of the time; the picture says so.
[[nodiscard]] std::string timeline_svg(std::span<const Timeline::Event> events,
                                       std::span<const Timeline::Phase> phases,
                                       const TimelineFacts& facts);

/// Text for XML: markup escaped, control characters and what is no UTF-8 replaced by "?".
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace plimsoll::memory
