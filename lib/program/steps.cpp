#include "program/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "trace/frame_kind.hpp"
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
Steps after_markers(const Recording& recording, const Trace& trace) {
  Steps steps{.source = Steps::Source::markers};
  bool out_of_memory = false;
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    if (trace.ops[i] != Op::marker) {
      out_of_memory = trace.ops[i] == Op::oom || (out_of_memory && is_driver_event(trace.ops[i]));
      continue;
    }
    if (out_of_memory && is_torch(recording)) continue;
    if (!trace.tags.empty() && !ends_a_step(recording.texts[trace.tags[i]])) continue;
    if (steps.begins.empty()) steps.begins.push_back(0);
    steps.ends_whole = i + 1 == trace.size();
    if (!steps.ends_whole) steps.begins.push_back(i + 1);
  }
  return steps;
}

// "step 12" without its number: scopes that are counted are one.
std::string_view uncounted(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == name.npos ? name : name.substr(0, last + 1);
}

constexpr std::string_view kProfilerStep = "ProfilerStep";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";

/// Opened by PyTorch itself: hooks of optimizers, and collectives, of which a step has many.
bool is_of_torch(std::string_view name) {
  constexpr std::string_view kLibraries[] = {"nccl:", "gloo:", "c10d::"};
  constexpr std::string_view kBegins[] = {"Optimizer.",
                                          "DistributedDataParallel.",
                                          "FullyShardedDataParallel.",
                                          "FSDP::",
                                          "all_reduce",
                                          "allreduce",
                                          "all_gather",
                                          "allgather",
                                          "_all_gather",
                                          "_allgather",
                                          "reduce_scatter",
                                          "_reduce_scatter",
                                          "broadcast",
                                          "all_to_all",
                                          "alltoall",
                                          "barrier",
                                          "reduce",
                                          "gather",
                                          "scatter",
                                          "send",
                                          "recv"};
  for (const std::string_view library : kLibraries) {
    if (name.starts_with(library)) return true;
  }
  return std::ranges::any_of(kBegins, [&](auto begin) { return name.starts_with(begin); });
}

bool is_allocation(const Trace& trace, std::uint64_t event) {
  return trace.ops[event] == Op::allocate || trace.ops[event] == Op::oom;
}

/// A step of an optimizer: the events of the first requests from its beginning and from its end on.
/// What is freed before the latter belongs to the step that ended.
struct Optimized {
  std::uint64_t begin = 0;
  std::uint64_t after = 0;
};

std::vector<Optimized> optimized_steps(const Recording& recording, const Trace& trace) {
  std::vector<Optimized> steps;
  if (trace.times_us.empty()) return steps;
  std::uint64_t begin = 0;
  for (const Annotation& annotation : recording.annotations) {
    if (annotation.gpu != trace.gpu) continue;
    if (!recording.texts[annotation.text].starts_with(kOptimizerStep)) continue;
    std::uint64_t event = first_event_at(trace, annotation.time_us);
    while (event < trace.size() && !is_allocation(trace, event)) ++event;
    if (annotation.begins) {
      begin = event;
    } else {
      steps.push_back({begin, event});
    }
  }
  return steps;
}

/// What tells requests of one line, or of one size, from others.
std::uint64_t kind_of(const Trace& trace, std::uint64_t event) {
  const bool by_stack = !trace.stacks.empty() && trace.stacks[event] != 0;
  return by_stack ? trace.stacks[event] : trace.sizes[event];
}

/// Several optimizers take turns in a step: other code follows each of them.
std::vector<Optimized> last_of_each_round(const Trace& trace, const std::vector<Optimized>& steps) {
  constexpr std::size_t kMost = 4;
  std::vector<std::uint64_t> kinds;
  for (const Optimized& step : steps) {
    if (step.after < trace.size()) kinds.push_back(kind_of(trace, step.after));
  }
  std::size_t turns = 1;
  const auto repeats = [&] {
    return std::equal(kinds.begin() + static_cast<std::ptrdiff_t>(turns), kinds.end(),
                      kinds.begin());
  };
  while (turns < kMost && 2 * turns < kinds.size() && !repeats()) ++turns;
  if (turns == 1 || 2 * turns > kinds.size() || !repeats()) return steps;
  std::vector<Optimized> last;
  for (std::size_t i = turns - 1; i < steps.size(); i += turns) last.push_back(steps[i]);
  return last;
}

/// Where the first step begins: as many requests before its optimizer as in the second step; where
/// that did not get so far, with the request that is like the one that begins it. 0: neither is
/// known.
std::uint64_t begin_of_first(const Trace& trace, const std::vector<Optimized>& steps) {
  const std::uint64_t second = steps.front().after;
  std::vector<std::uint64_t> events;  // requests before its optimizer
  for (std::uint64_t event = 0; event < steps.front().begin; ++event) {
    if (is_allocation(trace, event)) events.push_back(event);
  }
  if (steps.size() > 1) {
    std::size_t count = 0;
    for (std::uint64_t event = second; event < steps[1].begin; ++event) {
      count += is_allocation(trace, event) ? 1 : 0;
    }
    return count > 0 && count <= events.size() ? events[events.size() - count] : 0;
  }
  const auto like = std::ranges::find_if(events, [&](std::uint64_t event) {
    return second < trace.size() && kind_of(trace, event) == kind_of(trace, second);
  });
  return like == events.end() ? 0 : *like;
}

/// A step ends with that of its optimizer.
Steps optimizer_steps(const Trace& trace, const std::vector<Optimized>& all) {
  const std::vector<Optimized> optimized = last_of_each_round(trace, all);
  Steps steps{.source = Steps::Source::annotations, .begins = {begin_of_first(trace, optimized)}};
  for (const Optimized& step : optimized) {
    if (step.after == trace.size()) {
      steps.ends_whole = true;
    } else if (step.after > steps.begins.back()) {
      steps.begins.push_back(step.after);
    }
  }
  return steps;
}

/// The outermost scopes of the program by their names, where they are as many as its optimizer's
/// steps; where it has no optimizer, those that recur most often.
std::vector<std::uint64_t> scopes_of_steps(const std::vector<Phase>& phases,
                                           std::size_t optimized) {
  std::map<std::string_view, std::vector<std::uint64_t>> begins;
  for (const Phase& phase : phases) {
    const bool step = phase.name.starts_with(kProfilerStep);
    if (step || (phase.depth == 0 && !is_of_torch(phase.name))) {
      begins[step ? kProfilerStep : uncounted(phase.name)].push_back(phase.from);
    }
  }
  const std::vector<std::uint64_t>* best = nullptr;
  for (const auto& [name, events] : begins) {
    if (name == kProfilerStep) return events;
    if (optimized > 0 && events.size() != optimized && events.size() != optimized + 1) continue;
    if (best == nullptr || events.size() > best->size() ||
        (events.size() == best->size() && events.front() < best->front())) {
      best = &events;
    }
  }
  return best != nullptr && best->size() > 1 ? *best : std::vector<std::uint64_t>();
}

Steps annotated_steps(const Recording& recording, const Trace& trace) {
  const std::vector<Optimized> optimized = optimized_steps(recording, trace);
  auto begins = scopes_of_steps(annotated_phases(recording, trace), optimized.size());
  if (!begins.empty()) return {Steps::Source::annotations, std::move(begins)};
  return optimized.empty() ? Steps() : optimizer_steps(trace, optimized);
}

bool is_python_frame(const Recording& recording, std::uint32_t frame) {
  const Frame& f = recording.frames[frame];
  return is_python(frame_kind(recording.texts[f.name], recording.texts[f.file]));
}

/// Code that asks for memory within a step: a module's call, an optimizer, a backward pass, what
/// builds a model.
bool is_within_a_step(const Recording& recording, std::uint32_t frame) {
  const std::string_view file = recording.texts[recording.frames[frame].file];
  return file.ends_with("torch/nn/modules/module.py") || is_of_optimizer(file) ||
         file.find("torch/autograd/") != file.npos ||
         recording.texts[recording.frames[frame].name] == "__init__";
}

/// Whether all that asks is called by code of one step, as layers of a model are. What has no
/// frame of Python is of a backward pass.
bool repeats_within_a_step(const Recording& recording, const Trace& trace,
                           std::span<const std::uint64_t> events) {
  std::optional<std::vector<std::uint32_t>> callers;  // common to all, the outermost first
  for (const std::uint64_t event : events) {
    const std::vector<std::uint32_t>& stack = recording.stacks[trace.stacks[event]];
    std::vector<std::uint32_t> python;
    std::copy_if(stack.rbegin(), stack.rend(), std::back_inserter(python),
                 [&](std::uint32_t frame) { return is_python_frame(recording, frame); });
    if (python.empty()) continue;
    if (!callers) callers = python;
    callers->erase(std::ranges::mismatch(*callers, python).in1, callers->end());
  }
  return !callers || std::ranges::any_of(*callers, [&](std::uint32_t frame) {
    return is_within_a_step(recording, frame);
  });
}

/// Whether at least half of what is requested from an event on is given back: a loop that only
/// allocates is no step.
bool gives_back(const Trace& trace, std::uint64_t from) {
  std::vector<Bytes> born(trace.slot_count, 0);
  Bytes requested = 0;
  Bytes freed = 0;
  for (std::uint64_t event = from; event < trace.size(); ++event) {
    const Op op = trace.ops[event];
    if (op == Op::allocate) {
      requested += born[trace.slots[event]] = trace.sizes[event];
    } else if (op == Op::free || op == Op::free_requested) {
      freed += std::exchange(born[trace.slots[event]], 0);
    }
  }
  return 2 * freed >= requested;
}

/// Less is a loop inside a step.
constexpr std::size_t kFewestRequests = 4;

/// By requests, the last first: the shortest period that repeats through half of them; 0: none.
std::size_t period_of(const std::vector<std::uint64_t>& kinds, std::size_t& covered) {
  constexpr std::size_t kRepeats = 3;
  const std::vector<std::size_t> z = common_prefixes(kinds);
  for (std::size_t period = 1; period * kRepeats <= z.size(); ++period) {
    covered = z[period] + period;
    if (covered < period * kRepeats || 2 * covered < z.size()) continue;
    return period < kFewestRequests ? 0 : period;
  }
  return 0;
}

/// Whether the last requests, an eighth of all but no more than 32, come twice again, as they do
/// where a period repeats: without that no more is to be looked at. By Knuth, Morris and Pratt.
template <typename KindOf>
bool last_come_again(const Trace& trace, const KindOf& kind_of_request) {
  const auto requests = std::ranges::count(trace.ops, Op::allocate);
  const auto most = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(requests / 8, 1, 32));
  std::vector<std::uint64_t> last;             // the latest first
  std::vector<std::size_t> fallback(most, 0);  // how many are matched where the next one is not
  std::size_t matched = 0;
  int found = 0;
  const auto match = [&](std::uint64_t kind) {
    while (matched > 0 && (matched == most || last[matched] != kind)) {
      matched = fallback[matched - 1];
    }
    if (last[matched] == kind) ++matched;
  };
  for (std::uint64_t i = trace.size(); i-- > 0;) {
    if (trace.ops[i] != Op::allocate) continue;
    const std::uint64_t kind = kind_of_request(i);
    const std::size_t known = last.size();
    if (known < most) last.push_back(kind);
    if (known > 0) match(kind);
    if (known < most) fallback[known] = matched;
    if (matched == most && ++found == 2) return true;
  }
  return false;
}

Steps repeated_steps(const Recording& recording, const Trace& trace) {
  const bool by_stack = std::ranges::any_of(trace.stacks, [](std::uint32_t s) { return s != 0; });
  const auto kind_of_request = [&](std::uint64_t event) {
    return by_stack ? std::uint64_t{trace.stacks[event]} : trace.sizes[event];
  };
  if (!last_come_again(trace, kind_of_request)) return {};
  std::vector<std::uint64_t> events;
  std::vector<std::uint64_t> kinds;  // the last request first
  for (std::uint64_t i = trace.size(); i-- > 0;) {
    if (trace.ops[i] != Op::allocate) continue;
    events.push_back(i);
    kinds.push_back(kind_of_request(i));
  }
  std::size_t covered = 0;
  const std::size_t period = period_of(kinds, covered);
  if (period == 0) return {};
  Steps steps{.source = Steps::Source::repetition};
  for (std::size_t end = covered - covered % period; end > 0; end -= period) {
    steps.begins.push_back(events[end - 1]);
  }
  const bool within =
      by_stack && repeats_within_a_step(recording, trace, std::span(events).first(period));
  if (within || !gives_back(trace, steps.begins.front())) return {};
  return steps;
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
  if (Steps steps = after_markers(recording, trace); !steps.begins.empty()) return steps;
  if (Steps steps = annotated_steps(recording, trace); !steps.begins.empty()) return steps;
  return repeated_steps(recording, trace);
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
