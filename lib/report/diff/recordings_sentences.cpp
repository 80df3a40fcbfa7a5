#include "report/diff/recordings_sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "core/text.hpp"
#include "report/diff/phrases.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

bool same_places(const RecordingsDiff& diff) {
  return diff.only_a.blocks == 0 && diff.only_b.blocks == 0;
}

bool same_runs(const RecordingsAnswer& answer) {
  const auto& [run_a, run_b] = std::tie(answer.diff.a.run, answer.diff.b.run);
  if (!run_a) {
    return answer.a.peak_reserved == answer.b.peak_reserved && answer.a.ooms == answer.b.ooms;
  }
  const RunMetrics& a = run_a->metrics;
  const RunMetrics& b = run_b->metrics;
  return a.peak_reserved == b.peak_reserved && a.peak_allocated == b.peak_allocated &&
         a.ooms == b.ooms && a.oom_retries == b.oom_retries &&
         run_a->device_calls() == run_b->device_calls();
}

std::string at_peak(const RecordingsDiff& diff) {
  return diff.at_step == 0 ? "at its peak"
                           : fmt::format("at its peak in step {}", human_count(diff.at_step));
}

// The place that explains most of the difference.
std::string largest_part(const RecordingsDiff& diff, bool more, Bytes difference) {
  for (const PlaceDiff& place : diff.places) {
    if (place.difference() == 0) break;
    if ((place.b_bytes > place.a_bytes) != more) continue;
    return fmt::format(" {}: {}, {}.",
                       place.difference() > difference / 2 ? "Most of it" : "The largest part",
                       place_phrase(place), human_size(place.difference()));
  }
  return {};
}

std::string settings_of(const TraceSummary& trace) {
  return trace.settings->empty() ? "default settings" : *trace.settings;
}

std::string step_name(std::uint64_t step) {
  return step == 0 ? "before step 1" : fmt::format("in step {}", human_count(step));
}

std::string made_phrase(std::string_view side, const std::optional<RequestMade>& made) {
  if (!made) return fmt::format("{} makes no more there", side);
  std::string text = fmt::format("{} asks for {} at event {}", side, human_size(made->size),
                                 human_count(made->event));
  std::string where = made->place;
  if (made->private_pool) where += fmt::format("{}private pool", where.empty() ? "" : ", ");
  if (made->stream != 0) {
    where += fmt::format("{}side stream {}", where.empty() ? "" : ", ", made->stream);
  }
  if (!where.empty()) text += fmt::format(" ({})", where);
  return made->refused ? text + " and is refused" : text;
}

// Two sizes that look the same are told apart.
std::string both_made(const RequestDifference& found) {
  std::string text = made_phrase("A", found.a) + ", " + made_phrase("B", found.b);
  if (found.a && found.b && found.a->size != found.b->size &&
      human_size(found.a->size) == human_size(found.b->size)) {
    text += fmt::format(" ({} B and {} B)", human_count(found.a->size), human_count(found.b->size));
  }
  return text;
}

std::string_view source_name(Steps::Source source) {
  switch (source) {
    case Steps::Source::markers:
      return "markers";
    case Steps::Source::annotations:
      return "annotations";
    case Steps::Source::repetition:
      return "repetition";
    case Steps::Source::none:
      break;
  }
  return "nothing";
}

}  // namespace

Bytes held(const SpanPeak& peak) { return peak.allocated.value_or(peak.requested); }

bool nothing_differs(const RecordingsAnswer& answer) {
  const RequestsDiff& requests = answer.diff.requests;
  return !requests.first && requests.same_frees && same_places(answer.diff) && same_runs(answer);
}

std::string headline(const RecordingsAnswer& answer) {
  const RecordingsDiff& diff = answer.diff;
  const Bytes a = held(diff.a_peak);
  const Bytes b = held(diff.b_peak);
  if (a != b) {
    const auto [shown_a, shown_b] = sizes_apart(a, b);
    const Bytes difference = std::max(a, b) - std::min(a, b);
    return fmt::format("B needs {} {} {} than A: {} instead of {}.{}", human_size(difference),
                       a < b ? "more" : "less", at_peak(diff), shown_b, shown_a,
                       largest_part(diff, a < b, difference));
  }
  if (nothing_differs(answer)) {
    return fmt::format(
        "No difference: the same requests ({}) and frees in the same order, and the same peaks.",
        human_count(diff.requests.a_requests));
  }
  std::string text =
      fmt::format("Both need {} at their peaks{}", human_size(a),
                  diff.at_step == 0 ? "" : fmt::format(" in step {}", human_count(diff.at_step)));
  const auto reserved = reserved_apart(diff);
  if (reserved && reserved->undecided) {
    return text + fmt::format("; which of them reserves less is undecided: A {}, B {}.",
                              reserved->a, reserved->b);
  }
  if (reserved && *diff.a_peak.reserved != *diff.b_peak.reserved) {
    return text + fmt::format("; B reserves {} {}: {} instead of {}.", reserved->difference,
                              *diff.a_peak.reserved < *diff.b_peak.reserved ? "more" : "less",
                              reserved->b, reserved->a);
  }
  return text + (same_places(diff) ? ", in the same places." : ", but not in the same places.");
}

std::string requests_sentence(const RecordingsAnswer& answer) {
  const RequestsDiff& requests = answer.diff.requests;
  std::string text;
  if (!requests.first && !nothing_differs(answer)) {
    text = fmt::format("{} the same in both, in the same order{}",
                       requests.a_requests == 1
                           ? "The only request is"
                           : "All " + human_count(requests.a_requests) + " requests are",
                       requests.same_frees ? ", and so are the frees." : "; the frees are not.");
  }
  if (answer.a.settings && answer.b.settings && *answer.a.settings != *answer.b.settings) {
    text += fmt::format("{}The settings differ: A was recorded with {}, B with {}.",
                        text.empty() ? "" : " ", settings_of(answer.a), settings_of(answer.b));
  }
  return text;
}

std::string first_difference_sentence(const RecordingsDiff& diff) {
  const RequestsDiff& requests = diff.requests;
  if (!requests.first) return {};
  const RequestDifference& first = *requests.first;
  const std::string where =
      diff.has_steps() ? " " + step_name(first.step) : std::string(" of the recordings");
  std::string text = fmt::format("The first request that differs is number {}{}: {}.",
                                 human_count(first.number), where, both_made(first));
  const auto& equal = requests.first_in_equal_step;
  if (equal && diff.has_steps() && equal->step != first.step) {
    text += fmt::format(" In a step with as many requests it is number {} {}: {}.",
                        human_count(equal->number), step_name(equal->step), both_made(*equal));
  }
  return text;
}

std::string match_sentence(const RecordingsDiff& diff) {
  if (same_places(diff)) return {};
  const auto shown = [](const BlockSum& sum) {
    return sum.blocks == 0
               ? std::string("nothing")
               : fmt::format("{} ({})", human_size(sum.bytes), counted(sum.blocks, "block"));
  };
  return fmt::format("Matched by {}, {} at both peaks, {} only at A's, {} only at B's.",
                     diff.by_stack() ? "stack and size" : "size",
                     shown(diff.in_both) + (diff.in_both.blocks > 1 ? " are" : " is"),
                     shown(diff.only_a), shown(diff.only_b));
}

std::string steps_sentence(const RecordingsDiff& diff) {
  const Steps& a = diff.a.steps;
  const Steps& b = diff.b.steps;
  if (a.source == Steps::Source::none && b.source == Steps::Source::none) return {};
  if (!diff.has_steps()) {
    return fmt::format("Steps are not compared: {} shows none.",
                       a.source == Steps::Source::none ? "A" : "B");
  }
  if (a.source == b.source) return fmt::format("Steps are taken from {}.", source_name(a.source));
  return fmt::format("Steps of A are taken from {}, those of B from {}: they may not be the same.",
                     source_name(a.source), source_name(b.source));
}

std::string stacks_sentence(const RecordingsDiff& diff) {
  if (diff.by_stack()) return {};
  const char* who = diff.a_has_stacks   ? "B has"
                    : diff.b_has_stacks ? "A has"
                                        : "The recordings have";
  return fmt::format("{} no stacks: requests are told apart by their sizes alone.", who);
}

}  // namespace memreplay
