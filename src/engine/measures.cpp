#include "engine/measures.h"

#include <algorithm>

namespace plimsoll {
namespace {

/// Reads of 1 MiB run at the file system's full speed (256 MiB of f32 from the page cache: 1 MiB
/// and 16 MiB differ by less than the noise).
constexpr std::uint64_t fast_window_bytes = 1 << 20;
/// Below this a read's own cost shows; memory::Block begins here.
constexpr std::uint64_t small_window_bytes = 64 << 10;
/// Strips cost no time where they are tall enough (mlsd_512x512_large, one thread, alternating: 407
/// ms with them, 487 without), so they are used whether memory is short or not; then a tenth more
/// than the least is spent on taller ones.
constexpr tensor::StripTarget fast_strips{0, 0.1};
constexpr tensor::StripTarget least_strips{0, 0};

}  // namespace

tensor::PlanChoice fastest_choice() {
  return {fast_window_bytes, fast_strips, 0};
}

tensor::PlanChoice least_choice(std::size_t streamable_weights) {
  return {small_window_bytes, least_strips, streamable_weights};
}

tensor::PlanChoice choose_measures(Policy policy, std::uint64_t limit_bytes,
                                   std::size_t streamable_weights, const PeakOf& peak_of) {
  const tensor::PlanChoice least = least_choice(streamable_weights);
  if (policy == Policy::favor_min_peak) return least;
  const auto fits = [&](const tensor::PlanChoice& choice) {
    return peak_of(choice) <= limit_bytes;
  };
  tensor::PlanChoice choice = fastest_choice();
  if (fits(choice)) return choice;
  choice.window_bytes = small_window_bytes;
  if (fits(choice)) return choice;
  choice.strips = least_strips;
  if (fits(choice)) return choice;
  if (!fits(least)) return least;
  // As few streamed weights as will do.
  std::size_t low = 0;  // does not fit
  std::size_t high = streamable_weights;
  while (high - low > 1) {
    choice.streamed = low + (high - low) / 2;
    (fits(choice) ? high : low) = choice.streamed;
  }
  choice.streamed = high;
  return choice;
}

}  // namespace plimsoll
