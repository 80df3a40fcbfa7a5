#include "analysis/late_start/earlier_steps.hpp"

#include <algorithm>
#include <cmath>

namespace memreplay {
namespace {

/// Sizes of steps that are tried.
constexpr double kFactors[] = {.1, .25,  .4,  .5,   .6,  .7,  .8,  .85, .9,  .95,
                               1,  1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8,
                               2,  2.3,  2.6, 3,    3.5, 4,   5,   6,   8};
constexpr std::size_t kAsRecorded = 10;  ///< the index of 1
constexpr double kSame = .025;  ///< steps like those recorded differ by less of the reserved bytes

class ScaleSearch {
 public:
  ScaleSearch(const WarmParts& parts, Stage& recorded)
      : wanted_(static_cast<double>(parts.reserved)), recorded_(recorded) {}

  // How far the reserved bytes after these steps are from those recorded, as a share.
  double off(const std::vector<double>& steps) {
    const Bytes reserved =
        recorded_.reserved_after({Preparation::Start::founders_first, steps}).value_or(0);
    ratio_ = static_cast<double>(reserved) / wanted_;
    return std::abs(ratio_ - 1);
  }

  // Larger steps leave more memory reserved, by and large: bisects, then compares the two around.
  double by_reserved() {
    if (off({1}) <= kSame) return 1;
    const bool too_small = ratio_ < 1;
    double best = 0;
    double least = off({}) + .002;
    const auto look_at = [&](double factor) {
      const double badness = off({factor}) + .001 * std::abs(std::log(factor));
      if (badness < least) {
        least = badness;
        best = factor;
      }
    };
    std::size_t low = too_small ? kAsRecorded : 0;
    std::size_t high = too_small ? std::size(kFactors) : kAsRecorded + 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      look_at(kFactors[middle]);
      if (ratio_ < 1) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return best;
  }

 private:
  double wanted_;
  Stage& recorded_;
  double ratio_ = 0;
};

double largest_step(const WarmParts& parts, bool expandable, ScaleSearch search) {
  constexpr double kLargest = 8;
  if (expandable || parts.largest_scalable < torch::kLargeBuffer) return search.by_reserved();
  if (parts.largest_earlier == 0) return std::min(1.0, search.by_reserved());
  double ratio =
      static_cast<double>(parts.largest_earlier) / static_cast<double>(parts.largest_scalable);
  ratio = std::abs(ratio - 1) < .02 ? 1 : std::min(kLargest, ratio);
  const double off_without = search.off({});
  return off_without <= kSame && off_without < search.off({ratio}) ? 0 : ratio;
}

WarmKind kind_of(double largest) {
  if (largest == 0) return WarmKind::fresh;
  if (largest == 1) return WarmKind::steady;
  return largest < 1 ? WarmKind::smaller : WarmKind::larger;
}

}  // namespace

std::string name_of(WarmKind kind) {
  switch (kind) {
    case WarmKind::fresh:
      return "fresh";
    case WarmKind::steady:
      return "steady";
    case WarmKind::smaller:
      return "smaller";
    default:
      return "larger";
  }
}

EarlierSteps earlier_steps(const WarmParts& parts, bool expandable, Stage& recorded) {
  const double largest = largest_step(parts, expandable, ScaleSearch(parts, recorded));
  return {kind_of(largest), largest};
}

}  // namespace memreplay
