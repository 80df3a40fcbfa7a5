#include "questions/explain/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/text.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

// The highest phases, the first among equals, in the order in which they begin.
std::vector<const PhasePeak*> shown_of(const Explanation& e) {
  std::vector<const PhasePeak*> shown;
  for (const PhasePeak& phase : e.phases) shown.push_back(&phase);
  if (shown.size() <= e.rows) return shown;
  std::ranges::stable_sort(shown, std::greater{}, &PhasePeak::peak_requested);
  shown.resize(e.rows);
  std::ranges::sort(shown);
  return shown;
}

std::vector<std::string> row_of(const PhasePeak& phase) {
  std::vector<std::string> row = {
      std::string(3 + 2 * std::min(phase.depth, 5u), ' ') + shortened(phase.name),
      human_count(phase.times), human_size(phase.peak_requested), human_count(phase.peak_event),
      human_size(phase.peak_reserved)};
  if (!phase.use) return row;
  row.push_back(human_size(phase.use->waste()));
  row.push_back(phase.use->most.place.empty()
                    ? "-"
                    : fmt::format("{} {}", human_size(phase.use->most.bytes),
                                  shortened(phase.use->most.place)));
  return row;
}

constexpr std::size_t kDeepest = 16;
constexpr Bytes kLeastShare = 100;  ///< a branch of less than one part in so many has no row

class TreeRows {
 public:
  explicit TreeRows(const Explanation& e) : e_(e), least_(e.live_requested / kLeastShare) {}

  std::vector<std::vector<std::string>> rows() {
    add(*e_.tree, 0);
    return std::move(rows_);
  }

 private:
  void add(const std::vector<CallNode>& nodes, std::size_t depth) {
    PlaceSum rest;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const PlaceSum& sum = nodes[i].sum;
      const bool shown = i < e_.rows && sum.bytes >= least_ && depth < kDeepest;
      if (!shown) {
        rest.bytes += sum.bytes;
        rest.blocks += sum.blocks;
        ++left_out;
        continue;
      }
      add_row(shortened(sum.place), sum, depth);
      add(nodes[i].calls, depth + 1);
    }
    if (left_out > 0) add_row(fmt::format("… and {} more", human_count(left_out)), rest, depth);
  }

  void add_row(const std::string& text, const PlaceSum& sum, std::size_t depth) {
    rows_.push_back(
        {std::string(3 + 2 * depth, ' ') + text, human_size(sum.bytes), human_count(sum.blocks)});
  }

  const Explanation& e_;
  Bytes least_;
  std::vector<std::vector<std::string>> rows_;
};

std::string_view name_of(StepGrowth::Verdict verdict) {
  constexpr std::string_view kNames[] = {"grows", "steady", "unknown"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view word_for(Steps::Source source) {
  constexpr std::string_view kNames[] = {"", "markers", "annotations", "repetition"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string change(std::int64_t bytes) {
  const Bytes size = bytes < 0 ? Bytes{0} - static_cast<Bytes>(bytes) : static_cast<Bytes>(bytes);
  return fmt::format("{} {}", human_size(size), bytes < 0 ? "less" : "more");
}

std::string unknown(const StepGrowth& growth) {
  if (growth.since_step > 0) {
    return fmt::format(
        "Unknown: after each of {} {} stay, but each time at other call sites, as when a program "
        "begins. Record more steps, or group call sites: --by file.",
        counted(growth.steps, "step"), change(growth.per_step));
  }
  if (growth.source != Steps::Source::none) {
    return fmt::format("Unknown: {}; growth needs at least three.",
                       growth.steps == 0
                           ? "no step is complete"
                           : fmt::format("{} {} complete", counted(growth.steps, "step"),
                                         growth.steps == 1 ? "is" : "are"));
  }
  return "Unknown: no steps are marked, and none repeat through half of the recording. To mark "
         "steps in PyTorch, record with _record_memory_history(global_record_annotations=True) and "
         "put each step into torch.profiler.record_function(\"step\"); in a CSV, end each step "
         "with a row m.";
}

// "380 MiB", "380 MiB to 402 MiB"
std::string range_of(std::span<const Bytes> live) {
  const auto [least, most] = std::ranges::minmax(live);
  const std::string low = human_size(least);
  const std::string high = human_size(most);
  return low == high ? low : low + " to " + high;
}

std::string steady(const StepGrowth& growth) {
  // As many of the last steps as look alike, but no fewer than half.
  const std::span<const Bytes> live(growth.live);
  const std::size_t fewest = std::max<std::size_t>(3, live.size() / 2);
  std::size_t steps = 1;
  while (steps + 1 < live.size() && live[live.size() - 1 - steps] == live.back()) ++steps;
  steps = std::max(steps, fewest);
  return fmt::format("Nothing grows: {} after each of the last {}.", range_of(live.last(steps)),
                     counted(steps, "step"));
}

std::string grows(const StepGrowth& growth) {
  const std::vector<GrowingPlace>& places = growth.places;
  std::string said;
  if (places.empty()) {
    said = fmt::format(
        "Grows by {} a step since step {}, but no single call site does so throughout. Group call "
        "sites: --by file.",
        human_size(static_cast<Bytes>(growth.per_step)), human_count(growth.since_step));
  } else {
    Bytes sum = 0;
    for (const GrowingPlace& place : places) sum += place.per_step;
    const GrowingPlace& most = places.front();
    const std::string since = fmt::format("since step {} (event {})", human_count(most.since_step),
                                          human_count(most.first_event));
    said = places.size() == 1
               ? fmt::format("Grows by {} a step: {}, {}.", human_size(sum), shortened(most.place),
                             since)
               : fmt::format("Grows by {} a step in {}, most in {}: {} a step, {}.",
                             human_size(sum), counted(places.size(), "call site"),
                             shortened(most.place), human_size(most.per_step), since);
  }
  if (growth.steps_until_full) {
    said += ' ' + full_sentence(*growth.room, *growth.steps_until_full);
  }
  return said;
}

Table places_table(const StepGrowth& growth, std::size_t rows) {
  Table table{{left(" What grows"), "per step", "after step 1",
               fmt::format("after step {}", human_count(growth.steps)), "since step",
               "first event"}};
  const std::size_t shown = std::min(rows, growth.places.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const GrowingPlace& place = growth.places[i];
    table.add("   " + shortened(place.place), human_size(place.per_step), human_size(place.live[1]),
              human_size(place.live.back()), human_count(place.since_step),
              human_count(place.first_event));
  }
  if (shown < growth.places.size()) {
    table.add(fmt::format("… and {} more", human_count(growth.places.size() - shown)));
  }
  return table;
}

/// Each step but what was there before the first.
std::span<const Bytes> after_steps(const std::vector<Bytes>& live) {
  return std::span(live).subspan(std::min<std::size_t>(1, live.size()));
}

}  // namespace

std::string growth_sentence(const StepGrowth& growth) {
  switch (growth.verdict) {
    case StepGrowth::Verdict::grows:
      return grows(growth);
    case StepGrowth::Verdict::steady:
      return steady(growth);
    case StepGrowth::Verdict::unknown:
      break;
  }
  return unknown(growth);
}

void append_growth(Sheet& out, const ExplainedDevice& device) {
  const StepGrowth& growth = *device.growth;
  const bool grows = growth.verdict == StepGrowth::Verdict::grows;
  const std::string said = wrapped(growth_sentence(growth), 0, out.width());
  out += (grows ? red(said, out.style()) : bold(said, out.style())) + '\n';
  if (growth.source == Steps::Source::none) return;
  if (growth.steps > 1) {
    out += fmt::format("\n  live after a step   {} (step 1) to {} (step {}){}\n",
                       human_size(growth.live[1]), human_size(growth.live.back()),
                       human_count(growth.steps),
                       grows ? ": " + change(growth.per_step) + " a step" : "");
  }
  if (grows) {
    out += fmt::format("  peak of step {:<6} {}\n", human_count(growth.steps),
                       human_size(growth.last_peak));
  }
  if (!growth.places.empty()) {
    out += '\n';
    append_table(out, places_table(growth, device.explanation.rows));
  }
  out += '\n';
  append_paragraph(out,
                   fmt::format("{}, taken from {}.{}", counted(growth.steps, "complete step"),
                               word_for(growth.source),
                               growth.source == Steps::Source::repetition
                                   ? " If these are not the program's steps, mark them."
                                   : ""),
                   2);
}

void fields(JsonFields& f, const GrowingPlace& place) {
  f("place", place.place, "the call site");
  f("bytes_per_step", place.per_step, "more after each step");
  f("since_step", place.since_step, "with which it begins to grow, from 1");
  f("first_event", place.first_event, "the request of the first block that stays");
  f("live_bytes", after_steps(place.live), "held after each step");
}

void fields(JsonFields& f, const StepGrowth& growth) {
  const bool known = growth.verdict != StepGrowth::Verdict::unknown;
  const bool any = !growth.places.empty();
  const GrowingPlace most = any ? growth.places.front() : GrowingPlace();
  const std::string_view source = word_for(growth.source);
  f("verdict", name_of(growth.verdict), "grows, steady or unknown");
  f("sentence", growth_sentence(growth), "what the text says");
  f("steps_from", only_if(!source.empty(), source), "markers, annotations or repetition");
  f("steps", growth.steps, "complete ones");
  f("live_bytes", after_steps(growth.live), "requested by live blocks, after each step");
  f("bytes_per_step", only_if(known, growth.per_step), "of all that is live; null: unknown");
  f("since_step", only_if(growth.since_step > 0, growth.since_step), "with which it begins");
  f("first_event", only_if(any, most.first_event), "with which the place that grows most begins");
  f("place", only_if(any, most.place), "that grows most");
  f("steps_until_full", growth.steps_until_full, "at most; null: the device does not fill up");
  f("places", growth.places, "those that grow, most per step first");
}

Table growth_table(const ExplainAnswer& answer) {
  Table table{{left("trace"), "gpu", left("place"), "bytes_per_step", "since_step", "first_event",
               "live_after_first_step_bytes", "live_after_last_step_bytes"}};
  for (const ExplainedDevice& device : answer.devices) {
    if (!device.growth) continue;
    for (const GrowingPlace& place : device.growth->places) {
      table.add(device.trace.path, device.trace.gpu, place.place, place.per_step, place.since_step,
                place.first_event, place.live[1], place.live.back());
    }
  }
  return table;
}

void append_phases(Sheet& out, const Explanation& e) {
  if (e.phases.empty()) {
    if (!e.by_phase) return;
    out += '\n';
    return append_paragraph(out,
                            "No phases: the recording has no annotations, and no steps that are "
                            "marked or repeat. --phase NAME=FROM:TO adds one.",
                            2);
  }
  Table table{{left(" Phase"), "times", "peak requested", "at event", "peak reserved"}};
  if (e.by_phase) {
    table.columns[1].spare = 1;
    table.columns.insert(table.columns.end(), {"waste", left("who holds most")});
  }
  for (const PhasePeak* phase : shown_of(e)) {
    table.rows.push_back(row_of(*phase));
    table.rows.back().resize(table.columns.size(), "-");
  }
  if (table.rows.size() < e.phases.size()) {
    table.add(fmt::format("… and {} more", human_count(e.phases.size() - table.rows.size())));
  }
  out += '\n';
  append_table(out, table);
}

Table phases_table(const ExplainAnswer& answer) {
  Table table{{left("trace"), "gpu", left("phase"), "times", "peak_requested_bytes", "peak_event",
               "peak_reserved_bytes", "waste_bytes", left("place"), "place_bytes"}};
  for (const ExplainedDevice& device : answer.devices) {
    for (const PhasePeak& phase : device.explanation.phases) {
      const auto add = [&](const auto&... use) {
        table.add(device.trace.path, device.trace.gpu, phase.name, phase.times,
                  phase.peak_requested, phase.peak_event, phase.peak_reserved, use...);
      };
      phase.use ? add(phase.use->waste(), phase.use->most.place, phase.use->most.bytes) : add();
    }
  }
  return table;
}

std::string shortened(const std::string& place) {
  constexpr std::size_t kMost = 54;
  return place.size() <= kMost ? place : place.substr(0, kMost) + "…";
}

std::string tree_text(const Explanation& e) {
  if (!e.tree || e.tree->empty()) return {};
  return '\n' + text_table({{left(" Live memory, below its callers"), "bytes", "blocks"},
                            TreeRows(e).rows()});
}

void fields(JsonFields& f, const CallNode& node) {
  fields(f, node.sum);
  f.called("call_node");
  JsonType calls{"array"};
  calls.rest["items"]["$ref"] = "#/$defs/call_node";
  f.typed("calls", JsonFields::of(node.calls), calls, "what it calls, most bytes first");
}

}  // namespace memreplay
