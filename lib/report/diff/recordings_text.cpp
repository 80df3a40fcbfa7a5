#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/text.hpp"
#include "report/diff/diff.hpp"
#include "report/diff/phrases.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

using Change = PlaceDiff::Change;

constexpr std::size_t kPlaces = 10;
constexpr std::size_t kSteps = 8;
constexpr std::size_t kFirstSteps = 3;

Bytes held(const SpanPeak& peak) { return peak.allocated.value_or(peak.requested); }

bool same_places(const RecordingsDiff& diff) {
  return diff.only_a.blocks == 0 && diff.only_b.blocks == 0;
}

bool same_runs(const RecordingsReport& r) {
  if (!r.a_run) return r.a.peak_reserved == r.b.peak_reserved && r.a.ooms == r.b.ooms;
  const RunMetrics& a = r.a_run->metrics;
  const RunMetrics& b = r.b_run->metrics;
  return a.peak_reserved == b.peak_reserved && a.peak_allocated == b.peak_allocated &&
         a.ooms == b.ooms && a.oom_retries == b.oom_retries &&
         r.a_run->device_calls() == r.b_run->device_calls();
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

bool nothing_differs(const RecordingsReport& report) {
  const RequestsDiff& requests = report.diff.requests;
  return !requests.first && requests.same_frees && same_places(report.diff) && same_runs(report);
}

std::string answer(const RecordingsReport& report) {
  const RecordingsDiff& diff = report.diff;
  const Bytes a = held(diff.a_peak);
  const Bytes b = held(diff.b_peak);
  if (a != b) {
    const auto [shown_a, shown_b] = sizes_apart(a, b);
    const Bytes difference = std::max(a, b) - std::min(a, b);
    return fmt::format("B needs {} {} {} than A: {} instead of {}.{}", human_size(difference),
                       a < b ? "more" : "less", at_peak(diff), shown_b, shown_a,
                       largest_part(diff, a < b, difference));
  }
  if (nothing_differs(report)) {
    return fmt::format(
        "No difference: the same requests ({}) and frees in the same order, and the same peaks.",
        human_count(diff.requests.a_requests));
  }
  std::string text =
      fmt::format("Both need {} at their peaks{}", human_size(a),
                  diff.at_step == 0 ? "" : fmt::format(" in step {}", human_count(diff.at_step)));
  const auto reserved_a = diff.a_peak.reserved;
  const auto reserved_b = diff.b_peak.reserved;
  if (reserved_a && reserved_b && *reserved_a != *reserved_b) {
    const auto [shown_a, shown_b] = sizes_apart(*reserved_a, *reserved_b);
    return text + fmt::format("; B reserves {} {}: {} instead of {}.",
                              human_size(std::max(*reserved_a, *reserved_b) -
                                         std::min(*reserved_a, *reserved_b)),
                              *reserved_a < *reserved_b ? "more" : "less", shown_b, shown_a);
  }
  return text + (same_places(diff) ? ", in the same places." : ", but not in the same places.");
}

std::string settings_of(const TraceSummary& trace) {
  return trace.settings->empty() ? "default settings" : *trace.settings;
}

// What differs or does not beside the peaks.
std::string requests_sentence(const RecordingsReport& report) {
  const RequestsDiff& requests = report.diff.requests;
  std::string text;
  if (!requests.first && !nothing_differs(report)) {
    text = fmt::format("{} the same in both, in the same order{}",
                       requests.a_requests == 1
                           ? "The only request is"
                           : "All " + human_count(requests.a_requests) + " requests are",
                       requests.same_frees ? ", and so are the frees." : "; the frees are not.");
  }
  if (report.a.settings && report.b.settings && *report.a.settings != *report.b.settings) {
    text += fmt::format("{}The settings differ: A was recorded with {}, B with {}.",
                        text.empty() ? "" : " ", settings_of(report.a), settings_of(report.b));
  }
  return text;
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

void add_sides(std::string& out, const RecordingsReport& report) {
  const auto line = [&](std::string_view side, const TraceSummary& trace) {
    const std::string device = trace.devices > 1
                                   ? fmt::format(", gpu {} of {} devices", trace.gpu, trace.devices)
                                   : std::string();
    out += fmt::format("  {}  {}\n", side,
                       wrapped(trace.path + device + ": " + coverage_phrase(trace), 5));
  };
  line("A", report.a);
  line("B", report.b);
  if (report.a_run) {
    out += "     " +
           wrapped(fmt::format("both replayed under {}, on a device {}", report.a_run->strategy,
                               report.device && report.device->capacity
                                   ? "of " + human_size(*report.device->capacity)
                                   : "without limit"),
                   5) +
           '\n';
  }
}

class Totals {
 public:
  void sizes(std::string name, std::optional<Bytes> a, std::optional<Bytes> b) {
    if (!a && !b) return;
    const auto [shown_a, shown_b] = sizes_apart(a.value_or(0), b.value_or(0));
    table_.rows.push_back(
        {" " + name, a ? shown_a : "-", b ? shown_b : "-", a && b ? size_change(*a, *b) : "-"});
  }
  void counts(std::string name, std::uint64_t a, std::uint64_t b) {
    table_.rows.push_back({" " + name, human_count(a), human_count(b), count_change(a, b)});
  }
  std::string text() const { return text_table(table_); }

 private:
  Table table_{{{"", true}, {"A"}, {"B"}, {"difference"}}, {}};
};

void add_totals(std::string& out, const RecordingsReport& report) {
  const RecordingsDiff& diff = report.diff;
  Totals totals;
  const std::string peak =
      diff.at_step == 0 ? "peak" : fmt::format("step {} peak", human_count(diff.at_step));
  totals.sizes(peak + " requested", diff.a_peak.requested, diff.b_peak.requested);
  totals.sizes(peak + " allocated", diff.a_peak.allocated, diff.b_peak.allocated);
  totals.sizes(peak + " reserved", diff.a_peak.reserved, diff.b_peak.reserved);
  totals.counts("requests", diff.requests.a_requests, diff.requests.b_requests);
  if (report.a_run) {
    const RunMetrics& a = report.a_run->metrics;
    const RunMetrics& b = report.b_run->metrics;
    totals.counts("OOMs", a.ooms, b.ooms);
    totals.counts("OOM retries", a.oom_retries, b.oom_retries);
    totals.counts("device calls", report.a_run->device_calls(), report.b_run->device_calls());
  } else if (report.a.ooms + report.b.ooms > 0) {
    totals.counts("OOMs", report.a.ooms, report.b.ooms);
  }
  if (!diff.a.steps.begins.empty() || !diff.b.steps.begins.empty()) {
    totals.counts("steps", diff.a.steps.begins.size(), diff.b.steps.begins.size());
  }
  out += '\n' + totals.text();
}

void add_places(std::string& out, const RecordingsDiff& diff) {
  const std::string title =
      fmt::format(" {} at the peaks, by {}", diff.a.replay ? "Requested" : "Live",
                  diff.by_stack() ? "place" : "size");
  Table table{{{title, true}, {"A"}, {"B"}, {"difference"}, {"blocks", true}}, {}};
  std::size_t changed = 0;
  std::size_t same = 0;
  Bytes same_bytes = 0;
  for (const PlaceDiff& place : diff.places) {
    if (place.change() == Change::same) {
      ++same;
      same_bytes += place.a_bytes;
    } else if (++changed <= kPlaces) {
      const auto [a, b] = sizes_apart(place.a_bytes, place.b_bytes);
      table.rows.push_back({"   " + place_phrase(place), place.a_blocks == 0 ? "-" : a,
                            place.b_blocks == 0 ? "-" : b,
                            size_change(place.a_bytes, place.b_bytes), blocks_phrase(place)});
    }
  }
  if (changed > kPlaces) {
    table.rows.push_back({fmt::format("   … and {} more", human_count(changed - kPlaces))});
    table.rows.back().resize(table.columns.size());
  }
  if (changed > 0) out += '\n' + text_table(table);
  if (same > 0 && changed > 0) {
    out += fmt::format("    unchanged: {}, {}\n",
                       diff.by_stack() ? counted(same, "place")
                       : same == 1     ? "1 size class"
                                       : human_count(same) + " size classes",
                       human_size(same_bytes));
  }
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

Bytes apart(Bytes a, Bytes b) { return std::max(a, b) - std::min(a, b); }

// What is held comes before what is reserved.
std::pair<Bytes, Bytes> difference_in(const RecordingsDiff& diff, std::size_t step) {
  const SpanPeak& a = diff.a.spans[step];
  const SpanPeak& b = diff.b.spans[step];
  return {apart(held(a), held(b)), apart(a.reserved.value_or(0), b.reserved.value_or(0))};
}

// The first steps and those that differ most, in order.
std::vector<std::size_t> steps_to_show(const RecordingsDiff& diff) {
  const std::size_t common = std::min(diff.a.spans.size(), diff.b.spans.size());
  const bool something_before = diff.a.spans[0].to > 0 || diff.b.spans[0].to > 0;
  std::vector<std::size_t> steps;
  for (std::size_t step = something_before ? 0 : 1; step < common; ++step) steps.push_back(step);
  if (steps.size() <= kSteps) return steps;
  std::stable_sort(steps.begin() + kFirstSteps, steps.end(), [&](std::size_t x, std::size_t y) {
    return difference_in(diff, x) > difference_in(diff, y);
  });
  steps.resize(kSteps);
  std::ranges::sort(steps);
  return steps;
}

void add_steps(std::string& out, const RecordingsDiff& diff) {
  if (!diff.has_steps()) return;
  const std::vector<std::size_t> steps = steps_to_show(diff);
  const bool differ = std::ranges::any_of(steps, [&](std::size_t step) {
    return difference_in(diff, step) != std::pair<Bytes, Bytes>{};
  });
  if (!differ) return;
  const bool reserved = diff.a.spans[0].reserved && diff.b.spans[0].reserved;
  const char* what = diff.a.replay ? "allocated" : "requested";
  Table table{{{fmt::format(" Step   peak {}", what), true}, {"A"}, {"B"}, {"difference"}}, {}};
  if (reserved) {
    for (const char* title : {"reserved A", "reserved B"}) table.columns.push_back({title});
  }
  for (const std::size_t step : steps) {
    const SpanPeak& a = diff.a.spans[step];
    const SpanPeak& b = diff.b.spans[step];
    const auto [shown_a, shown_b] = sizes_apart(held(a), held(b));
    table.rows.push_back({step == 0 ? "   before step 1" : fmt::format("   {}", human_count(step)),
                          shown_a, shown_b, size_change(held(a), held(b))});
    if (!reserved) continue;
    const auto [reserved_a, reserved_b] = sizes_apart(*a.reserved, *b.reserved);
    for (const auto& cell : {reserved_a, reserved_b}) table.rows.back().push_back(cell);
  }
  out += '\n' + text_table(table);
}

void append(std::string& out, const std::string& text) {
  if (!text.empty()) out += "  " + wrapped(text, 2) + '\n';
}

std::string without_stacks(const RecordingsReport& report) {
  const RecordingsDiff& diff = report.diff;
  if (diff.by_stack()) return {};
  const char* who = diff.a_has_stacks   ? "B has"
                    : diff.b_has_stacks ? "A has"
                                        : "The recordings have";
  return fmt::format("{} no stacks: requests are told apart by their sizes alone.", who);
}

}  // namespace

std::string recordings_diff_text(const RecordingsReport& report, const TextStyle& style) {
  const RecordingsDiff& diff = report.diff;
  std::string out = bold(wrapped(answer(report), 0), style) + "\n\n";
  add_sides(out, report);
  add_totals(out, report);
  add_places(out, diff);
  add_steps(out, diff);
  std::string notes;
  append(notes, match_sentence(diff));
  append(notes, requests_sentence(report));
  append(notes, first_difference_sentence(diff));
  if (!nothing_differs(report)) append(notes, steps_sentence(diff));
  append(notes, without_stacks(report));
  for (const auto* run : {&report.a_run, &report.b_run}) {
    if (!*run) continue;
    append(notes, inexact_sentence(**run));
    append(notes, served_sentence(**run));
  }
  return notes.empty() ? out : out + '\n' + notes;
}

}  // namespace memreplay
