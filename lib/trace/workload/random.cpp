#include "trace/workload/random.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace memreplay {
namespace {

constexpr std::size_t kEventsAtOnce = 1 << 16;
constexpr double kLeastLog2 = 9;
constexpr double kMostLog2 = 26;
/// How many of the events are allocations where there are fewer than so many live blocks.
constexpr double kGrowing = 0.55;

class RandomWorkload {
 public:
  RandomWorkload(const WorkloadOptions& options, const TakeEvents& take)
      : options_(options), take_(take), random_(options.seed) {}

  Slot make() {
    for (std::uint64_t i = 0; i < options_.events; ++i) {
      allocates() ? allocate() : free();
      if (events_.ops.size() == kEventsAtOnce) hand_on();
    }
    if (!events_.ops.empty()) hand_on();
    return static_cast<Slot>(sizes_.size());
  }

 private:
  /// Below 1, of 53 bits: the same everywhere, which the distributions of the library are not.
  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  bool allocates() {
    if (live_.size() < (options_.live + 1) / 2) return true;
    return share() < (live_.size() < options_.live ? kGrowing : 1 - kGrowing);
  }

  void allocate() {
    Slot slot = static_cast<Slot>(sizes_.size());
    if (free_slots_.empty()) {
      sizes_.emplace_back();
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
    }
    const double log2 = kLeastLog2 + share() * (kMostLog2 - kLeastLog2);
    sizes_[slot] = static_cast<Bytes>(std::exp2(log2));
    live_.push_back(slot);
    add(Op::allocate, slot);
  }

  void free() {
    std::swap(live_[random_() % live_.size()], live_.back());
    const Slot slot = live_.back();
    live_.pop_back();
    free_slots_.push_back(slot);
    add(Op::free, slot);
  }

  void add(Op op, Slot slot) {
    events_.ops.push_back(op);
    events_.slots.push_back(slot);
    events_.sizes.push_back(sizes_[slot]);
  }

  void hand_on() {
    events_.lane_of.resize(events_.ops.size());
    events_.align_log2.resize(events_.ops.size());
    take_(events_);
    events_ = {};
  }

  const WorkloadOptions& options_;
  const TakeEvents& take_;
  std::mt19937_64 random_;
  EventColumns events_;
  std::vector<Bytes> sizes_;  ///< by slot
  std::vector<Slot> free_slots_;
  std::vector<Slot> live_;
};

}  // namespace

Slot make_random_workload(const WorkloadOptions& options, const TakeEvents& take) {
  return RandomWorkload(options, take).make();
}

}  // namespace memreplay
