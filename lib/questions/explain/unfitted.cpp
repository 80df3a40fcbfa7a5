#include "questions/explain/unfitted.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "program/live_blocks.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

/// What was reserved for one request, and is still held.
struct Climb {
  std::uint64_t event = 0;
  Bytes from = 0;  ///< reserved before
  Bytes to = 0;    ///< and after
  Bytes free = 0;  ///< inside, before
};

/// Climbs that are still held, the oldest first.
class Staircase {
 public:
  void grow(const Climb& climb) { steps_.push_back(climb); }
  void shrink_to(Bytes level) {
    while (!steps_.empty() && steps_.back().from >= level) steps_.pop_back();
    if (!steps_.empty()) steps_.back().to = std::min(steps_.back().to, level);
  }
  const std::vector<Climb>& steps() const { return steps_; }

 private:
  std::vector<Climb> steps_;
};

std::vector<Climb> climbs(const Trace& trace, const Curves& curves, std::uint64_t last) {
  Staircase stairs;
  Bytes reserved = trace.size() == 0 ? 0 : curves.reserved.front();
  Bytes live = trace.size() == 0 ? 0 : curves.requested.front();
  std::optional<Climb> open;  // the driver's calls come before the request that needs them
  for (std::uint64_t i = 0; i <= last; ++i) {
    const Bytes now = curves.reserved[i];
    if (now < reserved) {
      stairs.shrink_to(now);
      open.reset();
    }
    if (now > reserved && !open)
      open = Climb{.from = reserved, .free = reserved - std::min(reserved, live)};
    if (open) open->to = now;
    if (is_request(trace.ops[i])) {
      if (open) {
        open->event = i;
        stairs.grow(*open);
      }
      open.reset();
    }
    reserved = now;
    live = curves.requested[i];
  }
  return stairs.steps();
}

}  // namespace

std::vector<UnfittedRequests> unfitted_requests(const Trace& trace, const Places& places,
                                                const Curves& curves,
                                                std::optional<std::uint64_t> event) {
  if (!event || *event >= curves.reserved.size()) return {};
  std::map<std::string, UnfittedRequests> by_place;
  for (const Climb& climb : climbs(trace, curves, *event)) {
    const Bytes size = trace.sizes[climb.event];
    if (climb.free < size || climb.to <= climb.from) continue;
    const std::string place = places.name_of(asker_of(trace, climb.event));
    UnfittedRequests& sum = by_place[place];
    sum.place = place;
    ++sum.requests;
    sum.reserved += climb.to - climb.from;
    sum.largest = std::max(sum.largest, size);
    sum.free = std::max(sum.free, climb.free);
  }
  std::vector<UnfittedRequests> found;
  for (auto& [place, sum] : by_place) found.push_back(std::move(sum));
  std::ranges::stable_sort(found, std::greater{}, &UnfittedRequests::reserved);
  return found;
}

}  // namespace memreplay
