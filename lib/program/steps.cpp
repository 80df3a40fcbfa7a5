#include "program/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "trace/markers.hpp"

namespace memreplay {
namespace {

std::uint64_t first_event_at(const Trace& trace, std::int64_t time) {
  const auto found = std::ranges::lower_bound(trace.times_us, time);
  return static_cast<std::uint64_t>(found - trace.times_us.begin());
}

/// Markers say where memory sleeps and what settings change, too.
bool ends_a_step(std::string_view text) {
  return text != kSleepMarker && text != kWakeMarker && !text.starts_with(kSettingsMarker);
}

/// A snapshot that PyTorch took because memory ran out is in its history, and ends no step.
std::vector<std::uint64_t> after_markers(const Recording& recording, const Trace& trace) {
  std::vector<std::uint64_t> begins;
  bool out_of_memory = false;
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    if (trace.ops[i] != Op::marker) {
      out_of_memory = trace.ops[i] == Op::oom || (out_of_memory && is_driver_event(trace.ops[i]));
      continue;
    }
    if (out_of_memory && is_torch(recording)) continue;
    if (!trace.tags.empty() && !ends_a_step(recording.texts[trace.tags[i]])) continue;
    if (begins.empty()) begins.push_back(0);
    if (i + 1 < trace.size()) begins.push_back(i + 1);
  }
  return begins;
}

// "step 12" without its number: scopes that are counted are one.
std::string_view uncounted(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == name.npos ? name : name.substr(0, last + 1);
}

std::vector<std::uint64_t> annotated_steps(const std::vector<Phase>& phases) {
  constexpr std::string_view kStep = "ProfilerStep";
  std::map<std::string_view, std::vector<std::uint64_t>> begins;
  for (const Phase& phase : phases) {
    const bool step = phase.name.starts_with(kStep);
    if (step || phase.depth == 0)
      begins[step ? kStep : uncounted(phase.name)].push_back(phase.from);
  }
  const std::vector<std::uint64_t>* best = nullptr;
  for (const auto& [name, events] : begins) {
    if (name == kStep) return events;
    if (best == nullptr || events.size() > best->size() ||
        (events.size() == best->size() && events.front() < best->front())) {
      best = &events;
    }
  }
  return best != nullptr && best->size() > 1 ? *best : std::vector<std::uint64_t>();
}

std::vector<std::uint64_t> repetitions(const Trace& trace) {
  constexpr std::size_t kShortest = 4;  // requests; less is a loop inside a step
  constexpr std::size_t kRepeats = 3;
  const bool by_stack = std::ranges::any_of(trace.stacks, [](std::uint32_t s) { return s != 0; });
  std::vector<std::uint64_t> events;
  std::vector<std::uint64_t> kinds;  // the last request first
  for (std::uint64_t i = trace.size(); i-- > 0;) {
    if (trace.ops[i] != Op::allocate) continue;
    events.push_back(i);
    kinds.push_back(by_stack ? trace.stacks[i] : trace.sizes[i]);
  }
  const std::vector<std::size_t> z = common_prefixes(kinds);
  for (std::size_t period = kShortest; period * kRepeats <= z.size(); ++period) {
    if (z[period] < period * (kRepeats - 1)) continue;
    std::vector<std::uint64_t> begins;
    for (std::size_t end = period; end <= z[period] + period; end += period) {
      begins.push_back(events[end - 1]);
    }
    return {begins.rbegin(), begins.rend()};
  }
  return {};
}

}  // namespace

std::vector<std::size_t> common_prefixes(const std::vector<std::uint64_t>& sequence) {
  std::vector<std::size_t> z(sequence.size(), 0);
  std::size_t left = 0;
  std::size_t right = 0;
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < sequence.size() && sequence[z[i]] == sequence[i + z[i]]) ++z[i];
    if (i + z[i] <= right) continue;
    left = i;
    right = i + z[i];
  }
  return z;
}

std::vector<Phase> annotated_phases(const Recording& recording, const Trace& trace) {
  std::vector<Phase> phases;
  if (trace.times_us.empty()) return phases;
  std::vector<std::size_t> open;
  for (const Annotation& annotation : recording.annotations) {
    if (annotation.gpu != trace.gpu) continue;
    const std::string& name = recording.texts[annotation.text];
    const std::uint64_t event = first_event_at(trace, annotation.time_us);
    if (annotation.begins) {
      open.push_back(phases.size());
      phases.push_back({name, event, trace.size(), static_cast<std::uint32_t>(open.size() - 1)});
      continue;
    }
    const auto begun = std::find_if(open.rbegin(), open.rend(),
                                    [&](std::size_t phase) { return phases[phase].name == name; });
    if (begun == open.rend()) continue;  // it began before the recording
    phases[*begun].to = event;
    open.erase(std::next(begun).base());
  }
  std::erase_if(phases, [](const Phase& phase) { return phase.from == phase.to; });
  return phases;
}

std::uint64_t Steps::of(std::uint64_t event) const {
  const auto next = std::ranges::upper_bound(begins, event);
  return static_cast<std::uint64_t>(next - begins.begin());
}

Steps steps_of(const Recording& recording, const Trace& trace) {
  if (auto begins = after_markers(recording, trace); !begins.empty()) {
    return {Steps::Source::markers, std::move(begins)};
  }
  if (auto begins = annotated_steps(annotated_phases(recording, trace)); !begins.empty()) {
    return {Steps::Source::annotations, std::move(begins)};
  }
  if (auto begins = repetitions(trace); !begins.empty()) {
    return {Steps::Source::repetition, std::move(begins)};
  }
  return {};
}

std::vector<Phase> phases_or_steps(const Recording& recording, const Trace& trace) {
  std::vector<Phase> phases = annotated_phases(recording, trace);
  if (!phases.empty()) return phases;
  const Steps steps = steps_of(recording, trace);
  if (steps.begins.empty()) return phases;
  if (steps.begins.front() > 0) phases.push_back({"before step 1", 0, steps.begins.front(), 0});
  for (std::size_t i = 0; i < steps.begins.size(); ++i) {
    const bool last = i + 1 == steps.begins.size();
    phases.push_back({fmt::format("step {}", i + 1), steps.begins[i],
                      last ? trace.size() : steps.begins[i + 1], 0});
  }
  return phases;
}

}  // namespace memreplay
