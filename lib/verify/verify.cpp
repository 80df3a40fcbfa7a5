#include "verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "trace/recorded_levels.hpp"
#include "trace/torch/unstated_settings.hpp"
#include "verify/guesses.hpp"
#include "verify/pinned_memory.hpp"
#include "verify/verification.hpp"

namespace memreplay {
namespace {

using torch::Release;

// The rules to try: what the recording shows bounds its release from below only.
std::vector<Release> candidates(const Recording& recording, const std::string& release) {
  if (!release.empty()) return {torch::parse_release(release)};
  const Release oldest = recording.settings.oldest_release.empty()
                             ? torch::kNewestRelease
                             : torch::parse_release(recording.settings.oldest_release);
  std::vector<Release> releases;
  for (const Release& one : {Release{2, 11, 0}, torch::kNewestRelease, Release{2, 12, 0}}) {
    if (one.has(oldest.minor)) releases.push_back(one);
  }
  if (!oldest.has(11)) releases.front() = oldest;
  return releases;
}

std::string why_unsupported(const Recording& recording, const Trace& trace) {
  if (!is_torch(recording)) return "not a recording of PyTorch's allocator";
  if (std::ranges::find(trace.ops, Op::allocate) == trace.ops.end()) {
    return "no allocation in its history";
  }
  if (std::ranges::none_of(trace.ops,
                           [](Op op) { return op == Op::free_completed || op == Op::free; }) &&
      std::ranges::find(trace.ops, Op::free_requested) != trace.ops.end()) {
    return "its history lacks free_completed";
  }
  return {};
}

/// Runs that a search for assumptions may take: fewer for longer traces.
std::size_t run_budget(const Trace& trace) {
  return std::clamp<std::size_t>(40'000'000 / (trace.size() + 1), 12, 400);
}

/// What tries of further explanations of an event may cost in all of a verification: a second or
/// two. Recordings that the model reproduces take some thousand.
constexpr std::uint64_t kMostWork = 20'000'000;

// One set of assumptions and how far it leads.
struct Candidate {
  Assumptions assumptions;
  std::shared_ptr<const Trace> corrected;  ///< null: the trace as it was read
  std::optional<PoolGuess> guess;          ///< still to be entered into `corrected`
  VerifyResult result;
  Clues clues;
  /// Bounds of garbage collection's threshold, from every divergence so far.
  Clues::Threshold threshold{0, UINT64_MAX};
};

/// What allocators built after PyTorch's do to requests, see RecordedSettings.
struct Addition {
  Bytes padding = 0;
  Bytes alignment = 0;
};

// Looks for assumptions under which the model gives the recording: from one divergence to the
// next, whatever it has a clue to is tried, and what leads further is kept.
class Search {
 public:
  /// `work_left`, of all searches together, outlives this: see Verification::limit_work.
  Search(const Recording& recording, const Trace& trace, const Release& release,
         const Addition& addition, const std::optional<StatedDevice>& device,
         std::uint64_t& work_left)
      : work_left_(work_left),
        recording_(recording),
        trace_(trace),
        collection_share_(
            torch::settings_of(recording.settings, release).garbage_collection_threshold),
        states_size_(device.has_value()),
        budget_(run_budget(trace)) {
    const torch::Settings settings = torch::settings_of(recording.settings, release);
    if (device) {
      first_.assumptions.device_total = device->capacity;
      first_.assumptions.room = device->room();
      states_limit_ = settings.per_process_memory_fraction < 1;
    }
    first_.assumptions.release = release;
    first_.assumptions.request_padding = addition.padding;
    first_.assumptions.large_alignment = addition.alignment;
    first_.assumptions.pools = recorded_pools(trace);
    first_.assumptions.settings_calls = noted_settings(recording, trace, release);
    first_.threshold.low = first_threshold();
    if (collection_share_ > 0 && !states_limit_) {
      first_.assumptions.memory_limit = limit_for_threshold(UINT64_MAX, 1);
    }
    first_.assumptions.prefer_collection = collection_share_ > 0;
  }

  Candidate run() {
    Candidate best = lead_on(play(first_));
    if (best.result.verdict == Verdict::exact || !best.assumptions.prefer_collection) return best;
    best.assumptions.prefer_collection = false;
    return lead_on(play(std::move(best)));
  }

  Candidate lead_on(Candidate best) {
    while (best.result.verdict != Verdict::exact) {
      std::optional<Candidate> further;
      for (Candidate& next : alternatives(best)) {
        if (budget_ == 0) break;
        Candidate played = play(std::move(next));
        if (!leads_further(played, further ? *further : best)) continue;
        further = std::move(played);
        if (further->result.verdict == Verdict::exact) break;
      }
      if (!further) break;
      best = std::move(*further);
    }
    return best;
  }

  bool may_go_on() const { return budget_ > 0; }

  Candidate play(Candidate candidate) {
    budget_ -= std::min<std::size_t>(budget_, 1);
    if (candidate.guess) {
      candidate.corrected =
          std::make_shared<const Trace>(with_guess(trace_of(candidate), *candidate.guess));
      candidate.assumptions.pools.resize(candidate.corrected->pools.size());
      candidate.guess.reset();
    }
    const Trace& trace = trace_of(candidate);
    Verification verification(recording_, trace, candidate.assumptions);
    verification.limit_work(work_left_);
    candidate.result = verification.run();
    work_left_ = verification.work_left();
    candidate.clues = verification.clues();
    Reading& reading = candidate.result.reading;
    reading.corrected = candidate.corrected;
    if (candidate.threshold.high != UINT64_MAX) {
      reading.memory_limit = candidate.assumptions.memory_limit;
    }
    if (candidate.assumptions.device_total != first_.assumptions.device_total) {
      reading.device_total = candidate.assumptions.device_total;
    }
    return candidate;
  }

 private:
  const Trace& trace_of(const Candidate& candidate) const {
    return candidate.corrected ? *candidate.corrected : trace_;
  }

  // Below the share of what was held at the most, the limit would have refused it.
  Bytes first_threshold() const {
    if (collection_share_ == 0) return 0;
    RecordedLevels levels(trace_);
    for (std::size_t i = 0; i < trace_.size(); ++i) levels.play(i);
    return bytes_of(collection_share_ * static_cast<double>(levels.peaks().reserved().reserved));
  }

  static bool leads_further(const Candidate& a, const Candidate& b) {
    if (a.result.verdict == Verdict::exact || b.result.verdict == Verdict::exact) {
      return b.result.verdict != Verdict::exact;
    }
    // A bound that excludes the old assumption is progress even where the next divergence is no
    // later.
    if (a.threshold.high - a.threshold.low != b.threshold.high - b.threshold.low) {
      return a.threshold.high - a.threshold.low < b.threshold.high - b.threshold.low;
    }
    return a.result.first_divergence->event > b.result.first_divergence->event;
  }

  std::vector<Candidate> alternatives(const Candidate& from) const {
    std::vector<Candidate> found;
    const Clues& clues = from.clues;
    if (clues.threshold && !states_limit_) {
      const Bytes low = std::max(from.threshold.low, clues.threshold->low);
      const Bytes high = std::min(from.threshold.high, clues.threshold->high);
      if (low < high && high - low < from.threshold.high - from.threshold.low) {
        Candidate next = from;
        next.threshold = {low, high};
        const Bytes middle = high == UINT64_MAX ? low + kGiB : low + (high - low) / 2;
        next.assumptions.memory_limit = limit_for_threshold(middle, collection_share_);
        found.push_back(std::move(next));
      }
    }
    if (clues.device_total && !states_size_ &&
        *clues.device_total < from.assumptions.device_total) {
      Candidate next = from;
      next.assumptions.device_total = *clues.device_total;
      found.push_back(std::move(next));
    }
    for (const PoolIndex pool : clues.pools) {
      if (from.assumptions.pools.at(pool).no_split) continue;
      Candidate next = from;
      next.assumptions.pools[pool].no_split = true;
      if (!trace_.coverage.starts_empty) {
        auto corrected = std::make_shared<Trace>(trace_of(from));
        keep_whole(corrected->start.segments, pool);
        next.corrected = std::move(corrected);
      }
      found.push_back(std::move(next));
    }
    add_other_ages(from, found);
    if (!states_pools()) add_pool_guesses(from, found);
    return found;
  }

  // Among equal free blocks the one in the oldest segment is taken; of segments from before the
  // recording, such a choice is all that shows which is older.
  void add_other_ages(const Candidate& from, std::vector<Candidate>& found) const {
    const bool by_age = from.assumptions.release.tie_break() == Release::TieBreak::segment_number;
    if (!by_age || !from.clues.choice) return;
    const Trace& trace = trace_of(from);
    const auto older = start_segment_at(trace, from.clues.choice->first);
    const auto younger = start_segment_at(trace, from.clues.choice->second);
    if (!older || !younger || *older == *younger) return;
    Candidate next = from;
    auto corrected = std::make_shared<Trace>(trace);
    set_older(corrected->start.segments, *older, *younger);
    next.corrected = std::move(corrected);
    found.push_back(std::move(next));
  }

  // Releases before 2.12 do not say to which pool a segment belongs; once it is gone, nothing does.
  bool states_pools() const {
    const std::string& oldest = recording_.settings.oldest_release;
    return !oldest.empty() && torch::parse_release(oldest).has(12);
  }

  void add_pool_guesses(const Candidate& from, std::vector<Candidate>& found) const {
    const std::uint64_t event = from.result.first_divergence->event;
    for (const PoolGuess& guess :
         guess_pools(trace_, trace_of(from), event, from.clues.addresses)) {
      Candidate next = from;
      next.guess = guess;
      found.push_back(std::move(next));
    }
  }

  std::uint64_t& work_left_;
  const Recording& recording_;
  const Trace& trace_;
  double collection_share_;    ///< garbage_collection_threshold
  bool states_size_ = false;   ///< the size of the device is not to be found
  bool states_limit_ = false;  ///< nor is the memory limit, a share of it
  std::size_t budget_;
  Candidate first_;
};

// What a recording that begins in the middle lacks for an exact answer.
std::string what_the_start_lacks(const Candidate& found, const torch::Settings& settings) {
  const Release& release = found.assumptions.release;
  std::string lacks = "it starts in the middle of the program, and does not show";
  if (release.tie_break() == Release::TieBreak::object_number) {
    lacks += " the numbers of its blocks, which decide among free blocks of equal size";
  } else if (release.tie_break() == Release::TieBreak::segment_number) {
    lacks += " which of its segments are older, which decides among free blocks of equal size";
  } else {
    lacks += " all sizes of its blocks";
  }
  if (settings.garbage_collection_threshold > 0)
    lacks += ", nor the ages that garbage collection uses";
  if (settings.expandable_segments) lacks += ", nor where its reservations begin";
  return lacks;
}

/// "the program changed its allocator settings before event 5 (max_split_size_mb:100) and 6 (…)"
std::string settings_reason(const std::vector<SettingsCall>& calls) {
  constexpr std::size_t kShown = 3;
  std::string text = "the program changed its allocator settings before event";
  for (std::size_t i = 0; i < std::min(kShown, calls.size()); ++i) {
    text += fmt::format("{} {} ({})", i == 0 ? "" : ",", calls[i].event,
                        calls[i].conf.empty() ? "no settings" : calls[i].conf);
  }
  if (calls.size() > kShown) text += fmt::format(" and {} times later", calls.size() - kShown);
  return text;
}

/// Where two settings each only bound the limit of splitting, the narrower may explain both.
Candidate with_fewer_changes(Search& search, Candidate best) {
  const auto bounds = [](const SettingsCall& call) {
    return call.settings.max_split_size != torch::kUnlimited;
  };
  for (std::size_t i = 1; i < best.result.reading.settings_calls.size() && search.may_go_on();) {
    Candidate fewer = best;
    std::vector<SettingsCall>& calls = fewer.assumptions.settings_calls;
    calls = best.result.reading.settings_calls;
    if (bounds(calls[i - 1]) && bounds(calls[i])) {
      calls[i].event = calls[i - 1].event;
      calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      fewer = search.play(std::move(fewer));
      if (fewer.result.verdict == Verdict::exact &&
          fewer.result.reading.settings_calls.size() < best.result.reading.settings_calls.size()) {
        best = std::move(fewer);
        continue;
      }
    }
    ++i;
  }
  return best;
}

/// Settings may have changed in the middle, right before what diverges: a run for each time.
Candidate explained_by_settings(Search& search, Candidate best) {
  while (best.result.verdict != Verdict::exact && search.may_go_on()) {
    const std::uint64_t event = best.result.first_divergence->event;
    Candidate next = best;
    std::vector<std::uint64_t>& events = next.assumptions.settings_may_change;
    if (!events.empty() && event <= events.back()) break;
    events.push_back(event);
    best = search.play(std::move(next));
  }
  return best;
}

// Where nothing else explains the recording, settings may have changed in its middle.
VerifyResult explain_the_rest(const Recording& recording, const Trace& trace, Search& search,
                              Candidate best) {
  const VerifyResult before = best.result;
  best = explained_by_settings(search, std::move(best));
  if (best.result.verdict == Verdict::exact) {
    best = with_fewer_changes(search, std::move(best));
    best.result.reason = settings_reason(best.result.reading.settings_calls);
    return best.result;
  }
  best.assumptions.settings_may_change.clear();
  best.assumptions.resynchronise = true;
  best = search.play(std::move(best));
  best.result.first_divergence = before.first_divergence;
  if (!trace.coverage.starts_empty && best.result.reason.empty()) {
    best.result.reason = what_the_start_lacks(
        best, torch::settings_of(recording.settings, best.assumptions.release));
  }
  return best.result;
}

}  // namespace

VerifyResult verify(const Recording& recording, const Trace& trace, const std::string& release,
                    const std::optional<StatedDevice>& device) {
  if (recording.format == kPinnedHostFormat) return {verify_pinned(recording, trace), {}};
  VerifyResult unsupported;
  unsupported.gpu = trace.gpu;
  unsupported.reason = why_unsupported(recording, trace);
  if (!unsupported.reason.empty()) return unsupported;
  std::optional<Candidate> best;
  std::optional<Search> best_search;
  std::uint64_t work_left = kMostWork;
  const RecordedSettings& settings = recording.settings;
  const auto try_all_releases = [&](const Addition& addition) {
    for (const Release& candidate : candidates(recording, release)) {
      if (best && best->result.verdict == Verdict::exact) return;
      Search search(recording, trace, candidate, addition, device, work_left);
      Candidate found = search.run();
      if (!best || found.result.allocs_matched > best->result.allocs_matched) {
        best = std::move(found);
        best_search.emplace(search);
      }
    }
  };
  const auto try_padding = [&](Bytes padding) {
    for (const Bytes alignment : possible_alignments(settings, trace, padding)) {
      try_all_releases({padding, alignment});
    }
  };
  try_padding(settings.request_padding);
  if (settings.request_padding == 0 && trace.coverage.starts_empty) {
    const auto roundup = settings.roundup_power2_divisions.value_or(torch::RoundupTable{});
    for (const Bytes padding : possible_paddings(trace.end, roundup)) try_padding(padding);
  }
  if (best->result.verdict == Verdict::exact) {
    best->assumptions.idle_empty_caches = captures_without_empty_cache(trace, best->result.reading);
    if (!best->assumptions.idle_empty_caches.empty()) *best = best_search->play(*best);
  }
  VerifyResult result = best->result.verdict == Verdict::exact
                            ? std::move(best->result)
                            : explain_the_rest(recording, trace, *best_search, std::move(*best));
  complete_deferrals(trace, result.reading);
  const std::vector<SettingsCall>& calls = result.reading.settings_calls;
  if (result.verdict == Verdict::exact && calls.size() > 1 && result.reason.empty()) {
    result.reason = settings_reason({calls.begin() + 1, calls.end()});
  }
  return result;
}

}  // namespace memreplay
