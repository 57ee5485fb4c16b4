// The picture: well-formed for any input, and saying what it must.
#include "memory/timeline_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::memory::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t mebibyte = 1 << 20;

/// The cause why a document is no well-formed XML of elements, attributes and text; empty if it is.
std::string flaw_of(std::string_view document) {
  std::vector<std::string> open;
  bool had_root = false;
  const auto entity_ends = [](std::string_view text) {
    for (const char* entity : {"&lt;", "&gt;", "&amp;", "&quot;"}) {
      if (text.starts_with(entity)) return true;
    }
    return false;
  };
  for (std::size_t at = 0; at < document.size(); ++at) {
    const auto c = static_cast<unsigned char>(document[at]);
    if (c < 0x20 && c != '\n') return "control character";
    if (c == '&' && !entity_ends(document.substr(at))) return "bare &";
    if (c == '>') return "bare >";
    if (c != '<') {
      if (open.empty() && c != '\n') return "text outside of the root";
      continue;
    }
    const std::size_t end = document.find('>', at);
    if (end == std::string_view::npos) return "open tag";
    std::string_view tag = document.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "wrong end: " + std::string(tag);
      open.pop_back();
      continue;
    }
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    if (tag.find('<') != std::string_view::npos) return "< in a tag";
    const std::size_t blank = tag.find(' ');
    const std::string name(tag.substr(0, blank));
    if (open.empty() && had_root) return "two roots";
    had_root = true;
    std::string_view rest =
        blank == std::string_view::npos ? std::string_view() : tag.substr(blank);
    while (!rest.empty()) {  // ' name="value"'
      if (!rest.starts_with(' ')) return "no blank before an attribute in " + std::string(tag);
      rest.remove_prefix(1);
      if (rest.empty()) break;
      const std::size_t equals = rest.find("=\"");
      if (equals == std::string_view::npos) return "attribute without value in " + std::string(tag);
      const std::size_t close = rest.find('"', equals + 2);
      if (close == std::string_view::npos) return "open value in " + std::string(tag);
      const std::string_view value = rest.substr(equals + 2, close - equals - 2);
      if (value.find("nan") != std::string_view::npos) return "not a number in " + std::string(tag);
      rest.remove_prefix(close + 1);
    }
    if (!empty) open.push_back(name);
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

struct Sample {
  std::vector<Timeline::Event> events;
  std::vector<Timeline::Phase> phases;
  TimelineFacts facts;

  void event(double seconds, std::uint64_t ledger, std::uint64_t resident, std::uint64_t peak) {
    Timeline::Event& event = events.emplace_back();
    event.seconds = seconds;
    event.ledger_bytes = ledger * mebibyte;
    event.resident_bytes = resident * mebibyte;
    event.peak_bytes = peak * mebibyte;
  }
};

Sample usual() {
  Sample sample;
  sample.event(0.000, 0, 6, 6);
  sample.event(0.010, 0, 8, 8);
  sample.event(0.011, 20, 8, 8);
  sample.event(0.060, 21, 29, 29);
  sample.event(0.070, 50, 29, 29);
  sample.event(0.400, 50, 56, 56);
  sample.event(0.900, 20, 28, 56);
  sample.phases = {{"import", 0, 0.010, 8 * mebibyte, 0.010, 0, {}},
                   {"encode",
                    0.010,
                    0.065,
                    29 * mebibyte,
                    0.060,
                    21 * mebibyte,
                    {{"weight", 20 * mebibyte, 43}, {"window", mebibyte, 1}}},
                   {"run",
                    0.065,
                    0.9,
                    56 * mebibyte,
                    0.4,
                    50 * mebibyte,
                    {{"activations", 30 * mebibyte, 1}, {"weight", 20 * mebibyte, 43}}}};
  sample.facts = {"mlsd.onnx", 60 * mebibyte, "option", 6 * mebibyte, 57 * mebibyte, 56 * mebibyte};
  return sample;
}

std::string draw(const Sample& sample) {
  return timeline_svg(sample.events, sample.phases, sample.facts);
}

TEST(TimelineSvg, SaysLimitPredictionPeakAndWhatMadeIt) {
  const std::string svg = draw(usual());
  EXPECT_EQ(flaw_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("Memory over time: mlsd.onnx"));
  EXPECT_THAT(svg, HasSubstr("Limit 60.0 MiB"));
  EXPECT_THAT(svg, HasSubstr("predicted peak 57.0 MiB"));
  EXPECT_THAT(svg, HasSubstr("peak seen by the kernel 56.0 MiB"));
  EXPECT_THAT(svg, HasSubstr("stayed 4.0 MiB below the limit"));
  EXPECT_THAT(svg, HasSubstr(">import<"));
  EXPECT_THAT(svg, HasSubstr(">encode<"));
  EXPECT_THAT(svg, HasSubstr(">run<"));
  EXPECT_THAT(svg, HasSubstr("weights 20.0 MiB (43 blocks)"));
  EXPECT_THAT(svg, HasSubstr("activations 30.0 MiB"));
  EXPECT_THAT(svg, HasSubstr("drawn wider than they lasted"));
}

TEST(TimelineSvg, SaysLoudlyWhenTheLimitWasBroken) {
  Sample sample = usual();
  sample.facts.limit_bytes = 50 * mebibyte;
  const std::string svg = draw(sample);
  EXPECT_EQ(flaw_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("OVER THE LIMIT by 6.0 MiB"));
}

TEST(TimelineSvg, ALimitFarAboveDoesNotFlattenThePicture) {
  Sample sample = usual();
  sample.facts.limit_bytes = 20'000 * mebibyte;
  sample.facts.limit_source = "available";
  const std::string svg = draw(sample);
  EXPECT_EQ(flaw_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("limit, far above"));
  EXPECT_THAT(svg, HasSubstr("80 % of what the machine has free"));
  EXPECT_THAT(svg, HasSubstr("60 MiB"));  // a tick of the scale
}

TEST(TimelineSvg, WhatIsUnknownIsLeftOut) {
  Sample sample = usual();
  sample.facts.limit_bytes = 0;
  sample.facts.predicted_peak_bytes = 0;
  sample.facts.name.clear();
  const std::string svg = draw(sample);
  EXPECT_EQ(flaw_of(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("predicted")));
  EXPECT_THAT(svg, Not(HasSubstr("imit")));
}

TEST(TimelineSvg, IsWellFormedForOddInput) {
  EXPECT_EQ(flaw_of(draw({})), "");
  Sample sample = usual();
  sample.facts.name =
      "<a & b> \"q\" \x01\x7F\xFF\xC3(\xED\xA0\x80\xEF\xBF\xBF é 𝄞 \xF4\x90\x80\x80";
  sample.phases[1].name = std::string(200, 'n') + "<&>";
  sample.phases[2].held.push_back({"<&>", 1, 2});
  std::string svg = draw(sample);
  EXPECT_EQ(flaw_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("&lt;a &amp; b&gt;"));
  EXPECT_THAT(svg, HasSubstr("é 𝄞"));

  sample = usual();
  sample.events.resize(1);
  sample.phases.resize(1);
  sample.phases[0].end_seconds = 0;
  EXPECT_EQ(flaw_of(draw(sample)), "");

  sample = usual();
  for (int index = 0; index < 70; ++index) {
    sample.phases.push_back({"phase " + std::to_string(index), 0.9, 0.9, mebibyte, 0.9, 0, {}});
  }
  svg = draw(sample);
  EXPECT_EQ(flaw_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("What made the 12 highest peaks of 73"));

  sample = usual();
  sample.facts.base_bytes = UINT64_MAX / 2;
  sample.events[3].ledger_bytes = UINT64_MAX / 4;
  sample.events[3].resident_bytes = UINT64_MAX;
  sample.facts.limit_bytes = UINT64_MAX;
  EXPECT_EQ(flaw_of(draw(sample)), "");
}

TEST(TimelineSvg, TimeGoesFromLeftToRightInsideThePlot) {
  const std::string svg = draw(usual());
  const std::size_t at = svg.find("stroke-width=\"2.2\"");
  ASSERT_NE(at, std::string::npos);
  const std::size_t points = svg.rfind("points=\"", at) + 8;
  std::string_view text(svg.data() + points, svg.find('"', points) - points);
  double last = 0;
  int count = 0;
  while (!text.empty()) {
    const double x = std::strtod(text.data(), nullptr);
    EXPECT_GE(x, last);
    last = x;
    ++count;
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) break;
    text.remove_prefix(blank + 1);
  }
  EXPECT_EQ(count, 8);  // the samples, and the end
  EXPECT_LE(last, 1120);
}

TEST(XmlFlaws, AreFound) {
  EXPECT_EQ(flaw_of("<a b=\"c\"><d/>x &amp; y</a>\n"), "");
  for (const char* wrong : {"<a>", "<a></b>", "<a/><b/>", "<a>&</a>", "<a b=c/>", "<a b=\"c/>", "x",
                            "<a>\x01</a>", "<a b=\"nan\"/>"}) {
    EXPECT_NE(flaw_of(wrong), "") << wrong;
  }
}

}  // namespace
}  // namespace plimsoll::memory::test
