// The timeline as a picture: resident memory over time, the limit, the phases, what made the peak.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/state.h"
#include "memory/size.h"
#include "plimsoll/engine.h"

namespace plimsoll {
namespace {

constexpr double left = 90;
constexpr double right = 960;
constexpr double top = 70;
constexpr double bottom = 420;

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// Reservations alive when the ledger was fullest, largest first.
std::vector<std::pair<std::string, std::int64_t>> held_at_peak(
    const std::vector<memory::Timeline::Event>& events) {
  std::map<std::string, std::int64_t> live;
  std::map<std::string, std::int64_t> best;
  std::uint64_t peak = 0;
  for (const auto& event : events) {
    if (event.delta_bytes == 0) continue;
    std::string purpose = event.purpose.starts_with("weight ") ? "weights" : event.purpose;
    live[purpose] += event.delta_bytes;
    if (event.ledger_bytes > peak) {
      peak = event.ledger_bytes;
      best = live;
    }
  }
  std::vector<std::pair<std::string, std::int64_t>> result(best.begin(), best.end());
  std::erase_if(result, [](const auto& entry) { return entry.second <= 0; });
  std::ranges::sort(result, [](const auto& a, const auto& b) { return a.second > b.second; });
  return result;
}

}  // namespace

std::string Engine::timeline_svg() const {
  state_->timeline->sample();
  const auto events = state_->timeline->events();
  const auto phases = state_->timeline->phases();
  std::uint64_t peak = 0;
  double end = 1e-6;
  for (const auto& event : events) {
    peak = std::max(peak, event.peak_bytes);
    end = std::max(end, event.seconds);
  }
  const std::uint64_t limit = state_->limit_bytes;
  const bool limit_fits = limit <= peak * 4;
  const double ceiling = static_cast<double>(limit_fits ? std::max(peak, limit) : peak) * 1.08;
  const auto x = [&](double seconds) { return left + (right - left) * seconds / end; };
  const auto y = [&](double bytes) { return bottom - (bottom - top) * bytes / ceiling; };

  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 560\" width=\"1000\" "
      "height=\"560\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"1000\" height=\"560\" fill=\"white\"/>\n";
  svg += fmt::format(
      "<text x=\"{}\" y=\"28\" font-size=\"18\">Memory over time: the kernel saw at most {} of the "
      "{} allowed</text>\n",
      left, memory::format_bytes(peak), memory::format_bytes(limit));
  const char* shades[] = {"#eef3f8", "#f8f3ea"};
  for (std::size_t index = 0; index < phases.size(); ++index) {
    const double from = x(phases[index].begin_seconds);
    const double to = index + 1 < phases.size() ? x(phases[index + 1].begin_seconds) : right;
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                       from, top, std::max(0.0, to - from), bottom - top, shades[index % 2]);
    if (to - from > 40) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" fill=\"#555\">{}</text>\n", from + 4, top - 6,
                         escaped(phases[index].name));
    }
  }
  for (int tick = 0; tick <= 4; ++tick) {
    const double bytes = ceiling * tick / 4;
    svg += fmt::format(
        "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ccc\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, y(bytes), right, y(bytes), left - 6, y(bytes) + 4,
        memory::format_bytes(static_cast<std::uint64_t>(bytes)));
  }
  std::string line;
  double last = 0;
  for (const auto& event : events) {
    if (event.resident_bytes == 0) continue;
    if (!line.empty()) line += fmt::format(" {:.1f},{:.1f}", x(event.seconds), y(last));
    last = static_cast<double>(event.resident_bytes);
    line += fmt::format(" {:.1f},{:.1f}", x(event.seconds), y(last));
  }
  svg += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6fb2\" stroke-width=\"2\"/>\n", line);
  svg += fmt::format(
      "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#1f6fb2\" "
      "stroke-dasharray=\"3 3\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" "
      "fill=\"#1f6fb2\">kernel's peak {}</text>\n",
      left, y(static_cast<double>(peak)), right, y(static_cast<double>(peak)), right - 4,
      y(static_cast<double>(peak)) - 5, memory::format_bytes(peak));
  if (limit_fits) {
    svg += fmt::format(
        "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#c0392b\" "
        "stroke-width=\"2\"/><text x=\"{}\" y=\"{:.1f}\" fill=\"#c0392b\">limit {}</text>\n",
        left, y(static_cast<double>(limit)), right, y(static_cast<double>(limit)), left + 4,
        y(static_cast<double>(limit)) - 5, memory::format_bytes(limit));
  }
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.1f} ms</text><text x=\"{}\" "
      "y=\"{}\">0</text>\n",
      right, bottom + 18, end * 1e3, left, bottom + 18);
  svg += fmt::format("<text x=\"{}\" y=\"{}\">Held when most was reserved: the program itself {}",
                     left, bottom + 46, memory::format_bytes(state_->base_bytes));
  int shown = 0;
  for (const auto& [purpose, bytes] : held_at_peak(events)) {
    if (++shown > 4) break;
    svg += fmt::format(", {} {}", escaped(purpose),
                       memory::format_bytes(static_cast<std::uint64_t>(bytes)));
  }
  svg += fmt::format(
      "</text>\n<text x=\"{}\" y=\"{}\" fill=\"#555\">Blue: resident memory of the process as the "
      "kernel reports it (VmRSS), sampled when memory is reserved or given back.</text>\n</svg>\n",
      left, bottom + 70);
  return svg;
}

}  // namespace plimsoll
