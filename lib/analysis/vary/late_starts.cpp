#include "analysis/vary/late_starts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "analysis/edit/lives.hpp"
#include "core/torch_sizes.hpp"
#include "replay/trial.hpp"

namespace memreplay {
namespace {

constexpr Address kSpreadFrom = Address{1} << 40;

// What stays open of the reserved peak where the tried starts miss nothing. Among 326 predictions
// from late recordings, 86 of them recorded on real cards, 308 lie within that and what was missed.
constexpr double kOpen = 1.0 / 128;
constexpr double kOpenWithOptimizer = 1.0 / 16;  ///< where in the first step its state went is open

/// Each block of the start in a segment of its own: where they lay with other sizes says nothing.
void spread_start(Trace& trace) {
  MemoryState spread;
  Address at = kSpreadFrom;
  for (const SegmentInfo& segment : trace.start.segments) {
    for (BlockInfo block : segment.blocks) {
      if (block.state == BlockState::free) continue;
      block.address = at;
      block.size = round_up(std::max<Bytes>(block.requested, 1), torch::kMinBlockSize);
      at += round_up(block.size, torch::kSmallBuffer);
      spread.segments.push_back({.address = block.address,
                                 .size = block.size,
                                 .stream = segment.stream,
                                 .pool = segment.pool,
                                 .small_pool = block.size <= torch::kSmallSize,
                                 .blocks = {block}});
    }
  }
  trace.start = std::move(spread);
}

std::vector<SettledStart> ways_to_settle(const Subject& of) {
  using Age = SettledStart::Age;
  const bool falls = of.order() == AddressPolicy::cuda_linux;
  const Age likeliest = falls ? Age::against_address : Age::by_address;
  const Age other = falls ? Age::by_address : Age::against_address;
  return {{likeliest, true}, {other, true}, {likeliest, false}};
}

struct WithStart {
  SettledStart how;
  MadeRecording made;
  double open = 0;  ///< share of what is reserved
};

/// A made recording with each start. Ways that come to nothing are left out.
std::vector<WithStart> with_starts(const Subject& of, const MadeRecording& spread) {
  const Subject subject(spread.recording, spread.trace(), spread.origin);
  std::vector<WithStart> all;
  for (const SettledStart& how : ways_to_settle(of)) {
    auto settled = settled_start(subject, of, how);
    if (!settled) continue;
    WithStart& one = all.emplace_back(
        WithStart{how, spread, settled->by_optimizer ? kOpenWithOptimizer : kOpen});
    one.made.recording.traces.front().start = std::move(settled->state);
  }
  return all;
}

double peak_reserved(const Subject& subject) {
  Trial trial(subject, usual_strategy(subject.recording()), {});
  return static_cast<double>(trial.run({}).metrics.peak_reserved);
}

}  // namespace

std::vector<StartTried> starts_tried(const Subject& recorded) {
  std::vector<StartTried> tried;
  if (recorded.trace().start.segments.empty() || recorded.verified() == nullptr) return tried;
  const BlockLives lives = lives_of(recorded.trace());
  Rewritten same = Rewrite(recorded.trace(), lives).write();
  spread_start(same.trace);
  const MadeRecording spread = made_recording(recorded, std::move(same), "its start was tried");
  const double truth = peak_reserved(recorded);
  for (const auto& [how, made, open] : with_starts(recorded, spread)) {
    const double there = peak_reserved(Subject(made.recording, made.trace(), made.origin));
    tried.push_back({how, truth > 0 ? there / truth - 1 : 0});
  }
  return tried;
}

SettledRecordings settled(const Subject& of, Rewritten trace, const std::string& why,
                          std::span<const std::span<const StartTried>> tried) {
  if (trace.trace.start.segments.empty()) return {{made_recording(of, std::move(trace), why)}};
  spread_start(trace.trace);
  MadeRecording spread = made_recording(of, std::move(trace), why);
  std::vector<WithStart> all = with_starts(of, spread);
  if (all.empty()) return {{std::move(spread)}};
  const auto worst = [&](const SettledStart& how) {
    double worst = 0;
    for (const std::span<const StartTried> of_one : tried) {
      const auto found = std::ranges::find(of_one, how, &StartTried::how);
      if (found != of_one.end()) worst = std::max(worst, std::abs(found->miss));
    }
    return worst;
  };
  std::ranges::stable_sort(all, {}, [&](const WithStart& one) { return worst(one.how); });
  SettledRecordings settled{.made = {}, .reserved_open = all[0].open + worst(all[0].how)};
  for (WithStart& one : all) settled.made.push_back(std::move(one.made));
  return settled;
}

}  // namespace memreplay
