#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/workloads/workload.hpp"

namespace memreplay {
namespace {

enum class SizeLaw { log_uniform, uniform, power, zipf };
enum class LifetimeLaw { any, youngest, oldest, exponential, power, generational };

/// How many of the events are allocations where there are fewer than so many live blocks.
constexpr double kGrowing = 0.55;
/// The exponent of lifetimes by a power law, and the longest by the mean.
constexpr double kLifetimeExponent = 1.2;
constexpr double kLongestLifetime = 1000;
/// Generational lifetimes: the share that dies young, and how much sooner.
constexpr double kYoung = 0.9;
constexpr double kYoungLifetime = 0.01;

class RandomSizes {
 public:
  RandomSizes(const WorkloadValues& values, Draws& draws)
      : draws_(draws),
        law_(static_cast<SizeLaw>(values.choice("sizes"))),
        exponent_(values.number("exponent", 0.01, 10)),
        least_(values.size("min")),
        most_(values.size("max")) {
    if (least_ > most_) {
      throw UsageError(fmt::format("workload random: min is {} and max {}; expected no less",
                                   exact_size(least_), exact_size(most_)));
    }
    if (law_ == SizeLaw::zipf) add_classes(values.whole("classes", 1, 100'000));
  }

  Bytes next() {
    switch (law_) {
      case SizeLaw::log_uniform:
        return static_cast<Bytes>(
            draws_.log_uniform(static_cast<double>(least_), static_cast<double>(most_)));
      case SizeLaw::uniform:
        return draws_.within(least_, most_);
      case SizeLaw::power:
        return static_cast<Bytes>(
            draws_.power(static_cast<double>(least_), static_cast<double>(most_), exponent_));
      case SizeLaw::zipf:
        break;
    }
    const auto rank =
        std::ranges::lower_bound(weight_up_to_, draws_.share() * weight_up_to_.back());
    return classes_[static_cast<std::size_t>(rank - weight_up_to_.begin())];
  }

 private:
  void add_classes(std::uint64_t count) {
    double weight = 0;
    for (std::uint64_t rank = 1; rank <= count; ++rank) {
      classes_.push_back(static_cast<Bytes>(
          draws_.log_uniform(static_cast<double>(least_), static_cast<double>(most_))));
      weight += std::pow(static_cast<double>(rank), -exponent_);
      weight_up_to_.push_back(weight);
    }
  }

  Draws& draws_;
  SizeLaw law_;
  double exponent_;
  Bytes least_;
  Bytes most_;
  std::vector<Bytes> classes_;        ///< by rank
  std::vector<double> weight_up_to_;  ///< by rank
};

/// About so many live, of which one is allocated or freed by chance.
void free_by_rank(LifetimeLaw law, std::uint64_t live, RandomSizes& sizes, Draws& draws,
                  WorkloadEvents& events) {
  std::vector<Slot> blocks;  // by age from `oldest` on, or in no order
  std::size_t oldest = 0;
  while (!events.full()) {
    const std::size_t count = blocks.size() - oldest;
    const bool grows =
        count < (live + 1) / 2 || draws.share() < (count < live ? kGrowing : 1 - kGrowing);
    if (grows) {
      blocks.push_back(events.allocate(sizes.next()));
      continue;
    }
    if (law == LifetimeLaw::oldest) {
      events.free(blocks[oldest++]);
      if (oldest < live) continue;
      blocks.erase(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(oldest));
      oldest = 0;
      continue;
    }
    if (law == LifetimeLaw::any) std::swap(blocks[draws.below(blocks.size())], blocks.back());
    events.free(blocks.back());
    blocks.pop_back();
  }
}

/// In allocations, about `live` on average.
double lifetime(LifetimeLaw law, double live, Draws& draws) {
  if (law == LifetimeLaw::exponential) return draws.exponential(live);
  if (law == LifetimeLaw::power) {
    // The mean of the bounded law, by its least.
    const double mean = kLifetimeExponent / (kLifetimeExponent - 1) *
                        (1 - std::pow(kLongestLifetime, 1 - kLifetimeExponent)) /
                        (1 - std::pow(kLongestLifetime, -kLifetimeExponent));
    const double least = live / mean;
    return draws.power(least, least * kLongestLifetime, kLifetimeExponent);
  }
  const double young = live * kYoungLifetime;
  const double old = (live - kYoung * young) / (1 - kYoung);
  return draws.exponential(draws.share() < kYoung ? young : old);
}

/// Each block is told at birth how long it lives.
void free_by_lifetime(LifetimeLaw law, std::uint64_t live, RandomSizes& sizes, Draws& draws,
                      WorkloadEvents& events) {
  using Death = std::pair<double, Slot>;
  std::priority_queue<Death, std::vector<Death>, std::greater<>> deaths;
  for (double now = 0; !events.full(); ++now) {
    for (; !deaths.empty() && deaths.top().first <= now; deaths.pop()) {
      events.free(deaths.top().second);
    }
    const Slot slot = events.allocate(sizes.next());
    deaths.emplace(now + lifetime(law, static_cast<double>(live), draws), slot);
  }
}

void run_random(const WorkloadValues& values, Draws& draws, WorkloadEvents& events) {
  RandomSizes sizes(values, draws);
  const auto law = static_cast<LifetimeLaw>(values.choice("lifetimes"));
  const std::uint64_t live = values.whole("live", 1, 1'000'000'000);
  const auto play = law < LifetimeLaw::exponential ? free_by_rank : free_by_lifetime;
  play(law, live, sizes, draws, events);
}

}  // namespace

WorkloadInfo random_workload() {
  return {
      .name = "random",
      .summary = "Requests of 512 B to 64 MiB, and frees of any live block, in no order",
      .options =
          {{"live", "N", "5000", "Blocks that are live at once, roughly."},
           {"sizes", "log-uniform|uniform|power|zipf", "log-uniform",
            "Log-uniform: each power of two is equally likely. Uniform: each size. Power: density "
            "as size^-(exponent+1). Zipf: `classes` fixed sizes, log-uniform ones, the one of rank "
            "r as likely as r^-exponent."},
           {"min", "SIZE", "512", "The smallest size."},
           {"max", "SIZE", "64MiB", "The largest size."},
           {"exponent", "X", "1", "Exponent of the sizes by power or zipf."},
           {"classes", "N", "64", "Number of fixed sizes of zipf."},
           {"lifetimes", "any|youngest|oldest|exponential|power|generational", "any",
            "Who is freed next: any live block, the youngest (a stack), the oldest (a queue). Or "
            "how long a block lives, counted in allocations, `live` on average: exponential; "
            "power: density as t^-2.2 up to 1000 times the least; generational: nine in ten a "
            "hundredth of that, both exponential."}},
      .run = run_random};
}

}  // namespace memreplay
