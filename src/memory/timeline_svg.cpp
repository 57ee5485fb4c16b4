#include "memory/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "memory/size.h"

namespace plimsoll::memory {
namespace {

// The page, in pixels.
constexpr double page_width = 1120;
constexpr double left = 84;
constexpr double right = 920;  // the labels of lines stand right of it
constexpr double top = 134;
constexpr double bottom = 440;
constexpr double line_height = 18;
constexpr double shortest_phase = 120;  // wide enough for its name
constexpr double letter = 7.5;          // mean width of a letter at size 13, generous
constexpr std::size_t most_marks = 12;  // peaks told in words

constexpr const char* ink = "#222";
constexpr const char* faint = "#667";
constexpr const char* kernel_color = "#1f6fb2";
constexpr const char* ledger_color = "#f3d9a4";
constexpr const char* ledger_edge = "#b5852a";
constexpr const char* base_color = "#d4d8dd";
constexpr const char* limit_color = "#c0392b";

void text_at(std::string& svg, double x, double y, std::string_view style, std::string_view text) {
  fmt::format_to(std::back_inserter(svg), "<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y,
                 style, xml_text(text));
}

/// A text in lines of at most `width` pixels, broken before a sign where there is one; returns the
/// y below it.
double wrapped_text(std::string& svg, double x, double y, double width, std::string_view text) {
  const auto letters = static_cast<std::size_t>(width / letter);
  while (!text.empty()) {
    std::size_t length = text.size();
    if (length > letters) {
      const std::size_t plus = text.rfind(" + ", letters);
      const std::size_t minus = text.rfind(" − ", letters);
      length = plus == std::string_view::npos ? minus : plus;
      if (plus != std::string_view::npos && minus != std::string_view::npos) {
        length = std::max(plus, minus);
      }
      if (length == std::string_view::npos) length = text.rfind(' ', letters);
      if (length == std::string_view::npos || length == 0) length = letters;
    }
    text_at(svg, x, y, "", text.substr(0, length));
    text.remove_prefix(length);
    while (text.starts_with(' ')) text.remove_prefix(1);
    y += line_height;
  }
  return y;
}

std::string format_seconds(double seconds) {
  if (seconds < 0.001) return fmt::format("{:.0f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  return fmt::format("{:.1f} s", seconds);
}

/// The unit that a height is best told in.
struct Unit {
  double bytes;
  const char* name;
};
Unit unit_for(double ceiling) {
  constexpr double kibibyte = 1024;
  if (ceiling < 4 * kibibyte * kibibyte) return {kibibyte, "KiB"};
  if (ceiling < 4 * kibibyte * kibibyte * kibibyte) return {kibibyte * kibibyte, "MiB"};
  return {kibibyte * kibibyte * kibibyte, "GiB"};
}

/// 1, 2, 5, 10, 20 … units, so that at most six lines fill the height.
double tick_step(double ceiling) {
  double step = unit_for(ceiling).bytes;
  constexpr std::array<double, 3> factors{2.0, 2.5, 2.0};
  for (std::size_t index = 0; ceiling / step > 6; ++index) step *= factors[index % 3];
  return step;
}

std::string tick_label(double bytes, double ceiling) {
  const Unit unit = unit_for(ceiling);
  return bytes == 0 ? "0" : fmt::format("{:.0f} {}", bytes / unit.bytes, unit.name);
}

/// Time to pixels: linear within a phase, no phase narrower than its name needs.
class TimeAxis {
 public:
  TimeAxis(std::span<const Timeline::Phase> phases, double end) {
    const double width = right - left;
    const double total = std::max(end, 1e-9);
    if (phases.empty()) {
      bands_.push_back({0, total, left, right});
      return;
    }
    const auto count = static_cast<double>(phases.size());
    const double shortest = std::min(shortest_phase, width / count);
    std::vector<double> share;
    double wide = 0;  // seconds of the phases that are wide enough by themselves
    double spare = width;
    for (std::size_t index = 0; index < phases.size(); ++index) {
      const double from = index == 0 ? 0 : phases[index].begin_seconds;
      const double to = index + 1 < phases.size() ? phases[index + 1].begin_seconds : total;
      share.push_back(std::max(0.0, to - from));
      bands_.push_back({from, to, 0, 0});
    }
    // The short ones take the shortest width first, the rest is divided by time; repeated, since
    // what is left may make another one short.
    std::vector<bool> is_short(share.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      spare = width;
      wide = 0;
      for (std::size_t index = 0; index < share.size(); ++index) {
        if (is_short[index]) spare -= shortest;
        if (!is_short[index]) wide += share[index];
      }
      for (std::size_t index = 0; index < share.size(); ++index) {
        const double pixels = wide > 0 ? spare * share[index] / wide : 0;
        if (!is_short[index] && pixels < shortest - 1e-6) {
          is_short[index] = true;
          changed = true;
        }
      }
    }
    double x = left;
    for (std::size_t index = 0; index < share.size(); ++index) {
      bands_[index].x0 = x;
      x += is_short[index] ? shortest : spare * share[index] / wide;
      bands_[index].x1 = x;
    }
    const bool any = std::ranges::find(is_short, true) != is_short.end();
    stretched_ = any && wide > 0;
  }

  [[nodiscard]] double x(double seconds) const {
    const Band* band = &bands_.front();
    for (const Band& candidate : bands_) {
      if (candidate.from <= seconds) band = &candidate;
    }
    const double span = std::max(band->to - band->from, 1e-12);
    const double part = std::clamp((seconds - band->from) / span, 0.0, 1.0);
    return band->x0 + (band->x1 - band->x0) * part;
  }
  [[nodiscard]] double begin_of(std::size_t phase) const { return bands_[phase].x0; }
  [[nodiscard]] double end_of(std::size_t phase) const { return bands_[phase].x1; }
  [[nodiscard]] bool stretched() const { return stretched_; }

 private:
  struct Band {
    double from;
    double to;
    double x0;
    double x1;
  };
  std::vector<Band> bands_;
  bool stretched_ = false;
};

/// The picture's parts, drawn one after the other from the back to the front.
class Picture {
 public:
  Picture(std::span<const Timeline::Event> events, std::span<const Timeline::Phase> phases,
          const TimelineFacts& facts)
      : events_(events), phases_(phases), facts_(facts), axis_(phases, end_of(events, phases)) {
    peak_ = facts.kernel_peak_bytes;
    for (const auto& event : events) {
      peak_ = std::max({peak_, event.resident_bytes, event.peak_bytes});
      ledger_peak_ = std::max(ledger_peak_, event.ledger_bytes);
    }
    std::uint64_t highest = std::max({peak_, facts.predicted_peak_bytes, std::uint64_t{1}});
    highest = std::max(highest, facts.base_bytes + ledger_peak_);
    // The highest peaks get a number, in the order of time.
    for (std::size_t index = 0; index < phases.size(); ++index) marked_.push_back(index);
    std::ranges::stable_sort(marked_, std::ranges::greater{},
                             [&](std::size_t index) { return phases[index].kernel_peak_bytes; });
    marked_.resize(std::min(marked_.size(), most_marks));
    std::ranges::sort(marked_);
    limit_shown_ = facts.limit_bytes != 0 && facts.limit_bytes / 3 <= highest;
    if (limit_shown_) highest = std::max(highest, facts.limit_bytes);
    ceiling_ = static_cast<double>(highest) * 1.1;
  }

  std::string draw() {
    draw_bands();
    draw_axes();
    draw_areas();
    draw_kernel();
    draw_lines();
    draw_marks();
    const double end = draw_words();
    std::string page = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
        "height=\"{1:.0f}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"13\" "
        "fill=\"{2}\">\n<rect width=\"{0}\" height=\"{1:.0f}\" fill=\"white\"/>\n",
        page_width, end + 12, ink);
    draw_title(page);
    page += svg_;
    page += "</svg>\n";
    return page;
  }

 private:
  static double end_of(std::span<const Timeline::Event> events,
                       std::span<const Timeline::Phase> phases) {
    double end = 0;
    for (const auto& event : events) end = std::max(end, event.seconds);
    for (const auto& phase : phases) end = std::max(end, phase.end_seconds);
    return end;
  }
  [[nodiscard]] double y(std::uint64_t bytes) const { return y(static_cast<double>(bytes)); }
  [[nodiscard]] double y(double bytes) const {
    return bottom - (bottom - top) * std::min(bytes, ceiling_) / ceiling_;
  }
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Args>(args)...);
  }

  void draw_title(std::string& svg) const {
    text_at(svg, left, 32, R"(font-size="20" font-weight="bold")",
            facts_.name.empty() ? std::string("Memory over time")
                                : fmt::format("Memory over time: {}", facts_.name));
    std::string figures;
    if (facts_.limit_bytes != 0) {
      figures += fmt::format("Limit {}", format_bytes(facts_.limit_bytes));
      if (facts_.limit_source == "cgroup") figures += " (80 % of what the cgroup leaves)";
      if (facts_.limit_source == "available") figures += " (80 % of what the machine has free)";
      figures += "  ·  ";
    }
    if (facts_.predicted_peak_bytes != 0) {
      figures += fmt::format("predicted peak {}  ·  ", format_bytes(facts_.predicted_peak_bytes));
    }
    figures += fmt::format("peak seen by the kernel {}", format_bytes(peak_));
    text_at(svg, left, 58, "font-size=\"15\"", figures);
    if (facts_.limit_bytes == 0) return;
    const bool over = peak_ > facts_.limit_bytes;
    if (!over && facts_.predicted_peak_bytes > facts_.limit_bytes) {
      text_at(svg, left, 80, fmt::format(R"(font-size="15" fill="{}")", limit_color),
              fmt::format("refused before anything large: {} more would be needed than is allowed",
                          format_bytes(facts_.predicted_peak_bytes - facts_.limit_bytes)));
      return;
    }
    const std::uint64_t apart = over ? peak_ - facts_.limit_bytes : facts_.limit_bytes - peak_;
    text_at(svg, left, 80,
            fmt::format(R"(font-size="15" fill="{}")", over ? limit_color : "#2a7d3f"),
            over ? fmt::format("OVER THE LIMIT by {}", format_bytes(apart))
                 : fmt::format("stayed {} below the limit", format_bytes(apart)));
  }

  void draw_bands() {
    for (std::size_t index = 0; index < phases_.size(); ++index) {
      const double from = axis_.begin_of(index);
      const double to = axis_.end_of(index);
      add("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", from,
          top - 34, std::max(0.0, to - from), bottom - top + 34,
          index % 2 == 0 ? "#f4f6f9" : "#e9edf3");
      const auto letters = static_cast<std::size_t>(std::max(0.0, (to - from - 12) / letter));
      const std::string& name = phases_[index].name;
      if (letters >= 3) {
        text_at(svg_, from + 6, top - 19, "font-weight=\"bold\"",
                name.size() <= letters ? name : name.substr(0, letters - 1) + ".");
      }
      const std::string duration =
          format_seconds(phases_[index].end_seconds - phases_[index].begin_seconds);
      if (letters >= duration.size()) {
        text_at(svg_, from + 6, top - 4, fmt::format(R"(fill="{}" font-size="12")", faint),
                duration);
      }
    }
  }

  void draw_axes() {
    const double step = tick_step(ceiling_);
    const auto lines = static_cast<int>(ceiling_ / step);
    for (int number = 0; number <= lines; ++number) {
      const double bytes = step * number;
      add("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#c9ced6\" "
          "stroke-width=\"{}\"/>\n",
          left, y(bytes), right, y(bytes), bytes == 0 ? 1.5 : 0.7);
      text_at(svg_, left - 8, y(bytes) + 4, fmt::format(R"(text-anchor="end" fill="{}")", faint),
              tick_label(bytes, ceiling_));
    }
    for (std::size_t index = 1; index < phases_.size(); ++index) {
      add("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#aab2bd\" "
          "stroke-dasharray=\"2 3\"/>\n",
          axis_.begin_of(index), top - 34, bottom);
    }
    text_at(
        svg_, left, bottom + 18, fmt::format("fill=\"{}\"", faint),
        axis_.stretched() ? "time → (short phases are drawn wider than they lasted)" : "time →");
    text_at(svg_, right, bottom + 18, fmt::format(R"(text-anchor="end" fill="{}")", faint),
            format_seconds(end_of(events_, phases_)));
  }

  /// The program itself, and on top of it what was reserved.
  void draw_areas() {
    std::string area;
    double last = y(facts_.base_bytes);
    fmt::format_to(std::back_inserter(area), "{:.1f},{:.1f}", left, last);
    for (const auto& event : events_) {
      const double x = axis_.x(event.seconds);
      const double now = y(facts_.base_bytes + event.ledger_bytes);
      if (now == last) continue;
      fmt::format_to(std::back_inserter(area), " {:.1f},{:.1f} {:.1f},{:.1f}", x, last, x, now);
      last = now;
    }
    add("<polygon points=\"{} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"0.8\"/>\n",
        area, right, last, right, y(facts_.base_bytes), left, y(facts_.base_bytes), ledger_color,
        ledger_edge);
    add("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left,
        y(facts_.base_bytes), right - left, bottom - y(facts_.base_bytes), base_color);
  }

  void draw_kernel() {
    std::string line;
    double last_x = -1;
    double last_y = -1;
    for (const auto& event : events_) {
      if (event.resident_bytes == 0) continue;
      const double x = axis_.x(event.seconds);
      const double now = y(event.resident_bytes);
      if (std::abs(x - last_x) < 0.05 && std::abs(now - last_y) < 0.05) continue;
      fmt::format_to(std::back_inserter(line), "{}{:.1f},{:.1f}", line.empty() ? "" : " ", x, now);
      last_x = x;
      last_y = now;
    }
    // As far as anybody knows it stayed so until the end.
    if (last_x >= 0) fmt::format_to(std::back_inserter(line), " {:.1f},{:.1f}", right, last_y);
    add("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" "
        "stroke-linejoin=\"round\"/>\n",
        line, kernel_color);
  }

  /// Limit, prediction and peak, their labels beside the plot and apart from each other.
  void draw_lines() {
    struct Label {
      std::uint64_t bytes;
      const char* name;
      const char* color;
      const char* dashes;
      double width;
      double y;
    };
    std::vector<Label> labels;
    if (limit_shown_) {
      labels.push_back({facts_.limit_bytes, "limit", limit_color, "none", 2.4, 0});
    }
    if (facts_.predicted_peak_bytes != 0) {
      labels.push_back({facts_.predicted_peak_bytes, "predicted peak", ledger_edge, "7 4", 1.4, 0});
    }
    labels.push_back({peak_, "kernel's peak", kernel_color, "2 3", 1.4, 0});
    std::ranges::stable_sort(labels, std::ranges::greater{}, &Label::bytes);
    double above = top - 40;
    for (Label& label : labels) {
      label.y = std::max(y(label.bytes), above + 17);
      above = label.y;
    }
    for (const Label& label : labels) {
      const double at = y(label.bytes);
      add("<polyline points=\"{},{:.1f} {},{:.1f} {},{:.1f}\" fill=\"none\" stroke=\"{}\" "
          "stroke-width=\"{}\" stroke-dasharray=\"{}\"/>\n",
          left, at, right, at, right + 12, label.y, label.color, label.width, label.dashes);
      text_at(svg_, right + 16, label.y + 4, fmt::format("fill=\"{}\"", label.color),
              fmt::format("{} {}", label.name, format_bytes(label.bytes)));
    }
    if (facts_.limit_bytes != 0 && !limit_shown_) {
      text_at(svg_, right + 16, top - 20, fmt::format("fill=\"{}\"", limit_color),
              "↑ limit, far above");
      text_at(svg_, right + 16, top - 4, fmt::format("fill=\"{}\"", limit_color),
              format_bytes(facts_.limit_bytes));
    }
  }

  /// A numbered mark at the fullest moment of each phase that is told of below.
  void draw_marks() {
    for (std::size_t number = 0; number < marked_.size(); ++number) {
      const Timeline::Phase& phase = phases_[marked_[number]];
      const double x = std::clamp(axis_.x(phase.fullest_seconds), left + 10, right - 10);
      draw_mark(x, y(phase.kernel_peak_bytes), number + 1);
    }
  }

  void draw_mark(double x, double at, std::size_t number) {
    add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"9\" fill=\"white\" stroke=\"{}\" "
        "stroke-width=\"1.6\"/>\n",
        x, at, kernel_color);
    text_at(svg_, x, at + 4, R"(text-anchor="middle" font-size="11" font-weight="bold")",
            std::to_string(number));
  }

  /// The legend and, per phase, what was held when it was fullest. Returns the y below it.
  double draw_words() {
    double line = bottom + 46;
    const auto legend = [&](double x, const char* color, bool is_line, std::string_view text) {
      add("<rect x=\"{}\" y=\"{:.1f}\" width=\"22\" height=\"{}\" fill=\"{}\"/>\n", x,
          is_line ? line - 6 : line - 11, is_line ? 3 : 13, color);
      text_at(svg_, x + 28, line, "", text);
    };
    legend(left, kernel_color, true, "resident, as the kernel reports it (VmRSS)");
    legend(left + 330, ledger_color, false, "reserved before it was used (the ledger)");
    legend(left + 640, base_color, false, "the program before the model was opened");
    line += 34;
    if (phases_.empty()) return line;
    text_at(svg_, left, line, R"(font-size="15" font-weight="bold")",
            marked_.size() == phases_.size() ? std::string("What made each peak")
                                             : fmt::format("What made the {} highest peaks of {}",
                                                           marked_.size(), phases_.size()));
    line += 22;
    for (std::size_t number = 0; number < marked_.size(); ++number) {
      draw_mark(left + 10, line - 4, number + 1);
      line = wrapped_text(svg_, left + 28, line, page_width - left - 48,
                          words_of(phases_[marked_[number]]));
      line += 4;
    }
    return line;
  }

  [[nodiscard]] std::string words_of(const Timeline::Phase& phase) const {
    constexpr std::size_t most_named = 6;
    std::string text = fmt::format("{}: {}", phase.name, format_bytes(phase.kernel_peak_bytes));
    std::uint64_t explained = facts_.base_bytes;
    text += fmt::format(" = the program at start {}", format_bytes(facts_.base_bytes));
    std::uint64_t small = 0;
    std::size_t named = 0;
    for (const Timeline::Holding& holding : phase.held) {
      explained += holding.bytes;
      if (++named > most_named) {
        small += holding.bytes;
        continue;
      }
      const bool many = holding.count > 1;
      const bool plural = many && !holding.purpose.ends_with('s');
      text += fmt::format(" + {}{} {}", holding.purpose, plural ? "s" : "",
                          format_bytes(holding.bytes));
      if (many) text += fmt::format(" ({} blocks)", holding.count);
    }
    if (small != 0) text += fmt::format(" + other reservations {}", format_bytes(small));
    // What was reserved and not touched makes the sum larger than the kernel's figure.
    if (explained < phase.kernel_peak_bytes) {
      text += fmt::format(" + taken between two measurements of heap and program {}",
                          format_bytes(phase.kernel_peak_bytes - explained));
    } else if (explained > phase.kernel_peak_bytes) {
      text += fmt::format(" − reserved but not touched {}",
                          format_bytes(explained - phase.kernel_peak_bytes));
    }
    return text;
  }

  std::span<const Timeline::Event> events_;
  std::span<const Timeline::Phase> phases_;
  const TimelineFacts& facts_;
  TimeAxis axis_;
  std::string svg_;
  std::uint64_t peak_ = 0;
  std::uint64_t ledger_peak_ = 0;
  std::vector<std::size_t> marked_;  // phases
  bool limit_shown_ = false;
  double ceiling_ = 1;
};

/// Length of the UTF-8 sequence at the front of `text`, 0 where there is none (RFC 3629).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool too_large = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const char c = text.front();
    // U+FFFE and U+FFFF are UTF-8 but no characters of XML.
    const bool is_noncharacter =
        text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
    if (length == 0 || is_noncharacter || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += '?';
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string timeline_svg(std::span<const Timeline::Event> events,
                         std::span<const Timeline::Phase> phases, const TimelineFacts& facts) {
  return Picture(events, phases, facts).draw();
}

}  // namespace plimsoll::memory
