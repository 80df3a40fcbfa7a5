#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "extensions/diff/answer.hpp"
#include "extensions/diff/diff_report.hpp"
#include "extensions/diff/phrases.hpp"
#include "report/parts/paragraphs.hpp"
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

/// The blocks that a place has on one side alone: of which sizes, how many, on which stream.
using Held = std::tuple<StreamIndex, bool, std::vector<std::pair<Bytes, std::uint64_t>>>;

Held held_by(const PlaceDiff& place) {
  Held held{place.stream, place.private_pool, {}};
  for (const SizeDiff& size : place.sizes) {
    std::get<2>(held).emplace_back(size.size, size.a_blocks + size.b_blocks);
  }
  return held;
}

// The place that explains most of the difference. One that holds what another held before has only
// another name.
std::string largest_part(const RecordingsDiff& diff, bool more, Bytes difference) {
  using Change = PlaceDiff::Change;
  const auto [gone, come] =
      more ? std::pair(Change::only_a, Change::only_b) : std::pair(Change::only_b, Change::only_a);
  std::map<Held, std::int64_t> renamed;
  for (const PlaceDiff& place : diff.places) {
    if (place.change() == gone) ++renamed[held_by(place)];
  }
  for (const PlaceDiff& place : diff.places) {
    if (place.difference() == 0) break;
    if ((place.b_bytes > place.a_bytes) != more) continue;
    if (place.change() == come) {
      const auto before = renamed.find(held_by(place));
      if (before != renamed.end() && before->second-- > 0) continue;
    }
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
  if (!made) return fmt::format("{} makes no more requests there", side);
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

/// Allocated, requested where that is not known.
Bytes held(const SpanPeak& peak) { return peak.allocated.value_or(peak.requested); }

/// What the recordings do, ask for and reserve is the same throughout.
bool nothing_differs(const RecordingsAnswer& answer) {
  const RequestsDiff& requests = answer.diff.requests;
  return !requests.first && requests.same_frees && same_places(answer.diff) && same_runs(answer);
}

/// Which side needs more, and which place most of it is.
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
  return text +
         (same_places(diff) ? ", at the same call sites." : ", but not at the same call sites.");
}

/// What differs or does not beside the peaks.
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
    text += fmt::format(" In a step with equally many requests it is number {} {}: {}.",
                        human_count(equal->number), step_name(equal->step), both_made(*equal));
  }
  return text;
}

/// How many blocks are the same at both peaks.
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

/// Where the steps are taken from.
std::string steps_sentence(const RecordingsDiff& diff) {
  const Steps& a = diff.a.steps;
  const Steps& b = diff.b.steps;
  if (a.source == Steps::Source::none && b.source == Steps::Source::none) return {};
  if (!diff.has_steps()) {
    return fmt::format("Steps are not compared: {} shows none.",
                       a.source == Steps::Source::none ? "A" : "B");
  }
  if (a.source == b.source) return fmt::format("Steps are taken from {}.", source_name(a.source));
  return fmt::format("Steps of A are taken from {}, those of B from {}: they may not correspond.",
                     source_name(a.source), source_name(b.source));
}

/// A sentence that sizes stand for places.
std::string stacks_sentence(const RecordingsDiff& diff) {
  if (diff.by_stack()) return {};
  const char* who = diff.a_has_stacks   ? "B has"
                    : diff.b_has_stacks ? "A has"
                                        : "The recordings have";
  return fmt::format("{} no stacks: requests are matched by size alone.", who);
}

using Change = PlaceDiff::Change;

constexpr std::size_t kSteps = 8;
constexpr std::size_t kFirstSteps = 3;

void add_sides(Sheet& out, const RecordingsAnswer& answer) {
  const auto line = [&](std::string_view side, const TraceSummary& trace) {
    const std::string device = trace.devices > 1
                                   ? fmt::format(", gpu {} of {} devices", trace.gpu, trace.devices)
                                   : std::string();
    out +=
        fmt::format("  {}  {}\n", side,
                    wrapped(trace.path + device + ": " + coverage_phrase(trace), 5, out.width()));
  };
  line("A", answer.a);
  line("B", answer.b);
  if (answer.diff.a.run) {
    append_paragraph(
        out,
        fmt::format("both replayed under {}, on a device {}", answer.diff.a.run->strategy,
                    answer.device && answer.device->capacity
                        ? "of " + human_size(*answer.device->capacity)
                        : "without limit"),
        5);
  }
}

class Totals {
 public:
  void sizes(std::string name, std::optional<Bytes> a, std::optional<Bytes> b) {
    if (!a && !b) return;
    const auto [shown_a, shown_b] = sizes_apart(a.value_or(0), b.value_or(0));
    table_.add(" " + name, a ? shown_a : "-", b ? shown_b : "-",
               a && b ? size_change(*a, *b) : "-");
  }
  void reserved(std::string name, const RecordingsDiff& diff) {
    const auto apart = reserved_apart(diff);
    if (!apart) return sizes(std::move(name), diff.a_peak.reserved, diff.b_peak.reserved);
    table_.add(" " + name, apart->a, apart->b, apart->change);
  }
  void counts(std::string name, std::uint64_t a, std::uint64_t b) {
    table_.add(" " + name, human_count(a), human_count(b), count_change(a, b));
  }
  const Table& table() const { return table_; }

 private:
  Table table_{{left(""), "A", "B", "difference"}};
};

void add_totals(Sheet& out, const RecordingsAnswer& answer) {
  const RecordingsDiff& diff = answer.diff;
  Totals totals;
  const std::string peak =
      diff.at_step == 0 ? "peak" : fmt::format("step {} peak", human_count(diff.at_step));
  totals.sizes(peak + " requested", diff.a_peak.requested, diff.b_peak.requested);
  totals.sizes(peak + " allocated", diff.a_peak.allocated, diff.b_peak.allocated);
  totals.reserved(peak + " reserved", diff);
  totals.counts("requests", diff.requests.a_requests, diff.requests.b_requests);
  if (diff.a.run) {
    const RunMetrics& a = diff.a.run->metrics;
    const RunMetrics& b = diff.b.run->metrics;
    totals.counts("OOMs", a.ooms, b.ooms);
    totals.counts("OOM retries", a.oom_retries, b.oom_retries);
    totals.counts("device calls", diff.a.run->device_calls(), diff.b.run->device_calls());
  } else if (answer.a.ooms + answer.b.ooms > 0) {
    totals.counts("OOMs", answer.a.ooms, answer.b.ooms);
  }
  if (!diff.a.steps.begins.empty() || !diff.b.steps.begins.empty()) {
    totals.counts("steps", diff.a.steps.begins.size(), diff.b.steps.begins.size());
  }
  out += '\n';
  append_table(out, totals.table());
}

void add_places(Sheet& out, const RecordingsDiff& diff) {
  const std::string title =
      fmt::format(" {} at the peaks, by {}", diff.a.run ? "Requested" : "Live",
                  diff.by_stack() ? name_of(diff.place_by) : "size");
  Table table{{left(title), "A", "B", "difference", left("blocks")}};
  std::size_t changed = 0;
  std::size_t same = 0;
  Bytes same_bytes = 0;
  for (const PlaceDiff& place : diff.places) {
    if (place.change() == Change::same) {
      ++same;
      same_bytes += place.a_bytes;
    } else if (++changed <= diff.rows) {
      const auto [a, b] = sizes_apart(place.a_bytes, place.b_bytes);
      table.add("   " + place_phrase(place), place.a_blocks == 0 ? "-" : a,
                place.b_blocks == 0 ? "-" : b, size_change(place.a_bytes, place.b_bytes),
                blocks_phrase(place));
    }
  }
  if (changed > diff.rows) {
    table.add(fmt::format("   … and {} more", human_count(changed - diff.rows)));
  }
  if (changed > 0) {
    out += '\n';
    append_table(out, table);
  }
  if (same > 0 && changed > 0) {
    out += fmt::format("    unchanged: {}, {}\n",
                       diff.by_stack() ? counted(same, std::string(name_of(diff.place_by)))
                       : same == 1     ? "1 size class"
                                       : human_count(same) + " size classes",
                       human_size(same_bytes));
  }
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

void add_steps(Sheet& out, const RecordingsDiff& diff) {
  if (!diff.has_steps()) return;
  const std::vector<std::size_t> steps = steps_to_show(diff);
  const bool differ = std::ranges::any_of(steps, [&](std::size_t step) {
    return difference_in(diff, step) != std::pair<Bytes, Bytes>{};
  });
  if (!differ) return;
  const bool reserved = diff.a.spans[0].reserved && diff.b.spans[0].reserved;
  const char* what = diff.a.run ? "allocated" : "requested";
  Table table{{left(fmt::format(" Step   peak {}", what)), "A", "B", "difference"}};
  if (reserved) table.columns.insert(table.columns.end(), {"reserved A", "reserved B"});
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
  out += '\n';
  append_table(out, table);
}

}  // namespace

std::string to_text(const RecordingsAnswer& answer, const TextStyle& style) {
  const RecordingsDiff& diff = answer.diff;
  Sheet out(style);
  out += bold(wrapped(headline(answer), 0, style.width), style) + "\n\n";
  add_sides(out, answer);
  add_totals(out, answer);
  add_places(out, diff);
  add_steps(out, diff);
  Sheet notes(style);
  append_paragraph(notes, match_sentence(diff), 2);
  append_paragraph(notes, requests_sentence(answer), 2);
  append_paragraph(notes, first_difference_sentence(diff), 2);
  if (!nothing_differs(answer)) append_paragraph(notes, steps_sentence(diff), 2);
  append_paragraph(notes, stacks_sentence(diff), 2);
  for (const auto* run : {&diff.a.run, &diff.b.run}) {
    if (!*run) continue;
    append_paragraph(notes, inexact_sentence(**run), 2);
    append_paragraph(notes, served_sentence(**run), 2);
  }
  if (!notes.empty()) out += '\n' + notes.text();
  return out.text();
}

}  // namespace memreplay
