#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "extensions/diff/diff_report.hpp"
#include "extensions/diff/phrases.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::array<const char*, 2> kSides = {"A", "B"};

std::string refusals(const Run& run) {
  return run.metrics.ooms == 0 ? run.strategy + " serves every request"
                               : fmt::format("{} runs out of memory {}", run.strategy,
                                             counted(run.metrics.ooms, "time"));
}

// Replays may go the same way where what is estimated of them differs.
bool estimates_differ(const StrategiesDiff& diff) {
  const auto& [a, b] = diff.runs;
  return (a.interval || b.interval) && a.metrics.peak_reserved != b.metrics.peak_reserved;
}

std::string headline(const StrategiesAnswer& answer) {
  const auto& [a, b] = answer.diff.runs;
  const StrategiesDiff& diff = answer.diff;
  if (!diff.finished) return "Interrupted before a difference was found.";
  if (diff.first() == nullptr && !estimates_differ(diff)) {
    return fmt::format("No difference: after every event {} and {} reserve the same.", a.strategy,
                       b.strategy) +
           (diff.allocated_from ? " What they allocate differs by rounding." : "");
  }
  std::string text;
  if (a.metrics.ooms != b.metrics.ooms) {
    const bool first = a.metrics.ooms < b.metrics.ooms;
    text = refusals(first ? a : b) + "; " + refusals(first ? b : a) + ". ";
  }
  const Bytes in_a = a.metrics.peak_reserved;
  const Bytes in_b = b.metrics.peak_reserved;
  const ReservedApart reserved = reserved_apart(a, b);
  if (reserved.undecided) {
    return text + fmt::format("Which of them reserves less at its peak is undecided: {} {}, {} {}.",
                              a.strategy, reserved.a, b.strategy, reserved.b);
  }
  if (in_a == in_b) return text + fmt::format("Both reserve {} at their peaks.", reserved.a);
  return text + fmt::format("{} reserves {} {} at its peak than {}: {} instead of {}.", b.strategy,
                            reserved.difference, in_a < in_b ? "more" : "less", a.strategy,
                            reserved.b, reserved.a);
}

void add_totals(Sheet& out, const StrategiesAnswer& answer) {
  const RunMetrics& a = answer.diff.runs[0].metrics;
  const RunMetrics& b = answer.diff.runs[1].metrics;
  Table table{{left(""), "A", "B", "difference"}};
  const auto size = [&](const char* name, Bytes in_a, Bytes in_b) {
    const auto [shown_a, shown_b] = sizes_apart(in_a, in_b);
    table.add(name, shown_a, shown_b, size_change(in_a, in_b));
  };
  const auto count = [&](const char* name, std::uint64_t in_a, std::uint64_t in_b) {
    table.add(name, human_count(in_a), human_count(in_b), count_change(in_a, in_b));
  };
  const ReservedApart reserved = reserved_apart(answer.diff.runs[0], answer.diff.runs[1]);
  table.add(" peak reserved", reserved.a, reserved.b, reserved.change);
  size(" peak allocated", a.peak_allocated, b.peak_allocated);
  count(" OOMs", a.ooms, b.ooms);
  count(" OOM retries", a.oom_retries, b.oom_retries);
  count(" device calls", answer.diff.runs[0].device_calls(), answer.diff.runs[1].device_calls());
  out += '\n';
  append_table(out, table);
}

std::string event_phrase(const Parting& parting) {
  switch (parting.op) {
    case Op::allocate:
      return fmt::format("the request of {}", human_size(parting.size));
    case Op::oom:
      return fmt::format("the request of {} that was refused when recorded",
                         human_size(parting.size));
    case Op::free:
    case Op::free_requested:
    case Op::free_completed:
      return fmt::format("the free of {}", human_size(parting.size));
    case Op::empty_cache:
      return "empty_cache";
    default:
      return "memory that the program returned to the device";
  }
}

std::string where_phrase(const StrategiesAnswer& answer, const Parting& parting) {
  std::string text = "event " + human_count(parting.event);
  if (parting.step > 0) text += ", step " + human_count(parting.step);
  text += ": " + event_phrase(parting);
  if (parting.stream < answer.streams.size() && answer.streams[parting.stream] != 0) {
    text += fmt::format(", stream {}", answer.streams[parting.stream]);
  }
  return parting.place.empty() ? text : text + ", " + parting.place;
}

void add_holdings(Sheet& out, const Parting& parting) {
  const auto& [a, b] = parting.holds;
  Table table{{left("   after it"), "A", "B"}};
  const auto size = [&](const char* name, Bytes in_a, Bytes in_b) {
    const auto [shown_a, shown_b] = sizes_apart(in_a, in_b);
    table.add(name, shown_a, shown_b);
  };
  if (is_request(parting.op)) {
    const auto served = [](const Holding& holding) { return holding.refused ? "no" : "yes"; };
    if (a.refused || b.refused) table.add("     served", served(a), served(b));
  }
  size("     reserved", a.reserved, b.reserved);
  size("     allocated", a.allocated, b.allocated);
  size("     free inside", a.free, b.free);
  size("     largest hole", a.largest_free, b.largest_free);
  table.add("     device calls", human_count(a.device_calls), human_count(b.device_calls));
  append_table(out, table);
}

std::string lead_sentence(const StrategiesAnswer& answer) {
  const StrategiesDiff& diff = answer.diff;
  if (!diff.lead) return "They reserve the same after every event.";
  const Lead& lead = *diff.lead;
  const std::string until = lead.to >= answer.trace.events
                                ? "to the end"
                                : fmt::format("up to event {}", human_count(lead.to));
  std::string text = fmt::format("{} reserves more from event {} {}, by {} after event {}",
                                 kSides.at(lead.more), human_count(lead.from), until,
                                 human_size(lead.difference()), human_count(lead.furthest.event));
  const std::uint64_t other = lead.more == 0 ? diff.events_b_more : diff.events_a_more;
  const std::uint64_t own = lead.more == 0 ? diff.events_a_more : diff.events_b_more;
  if (own > lead.to - lead.from) {
    text += fmt::format(", all in all after {} of {}", human_count(own),
                        counted(answer.trace.events, "event"));
  }
  if (other > 0) {
    text += fmt::format("; {} after {}", kSides.at(1 - lead.more), counted(other, "event"));
  }
  return text + '.';
}

}  // namespace

std::string to_text(const StrategiesAnswer& answer, const TextStyle& style) {
  const StrategiesDiff& diff = answer.diff;
  Sheet out(style);
  out += bold(wrapped(headline(answer), 0, style.width), style) + "\n\n";
  const TraceRuns head{answer.trace, {}, {}, answer.model_check};
  const std::string model = model_sentence(head);
  const std::string device =
      answer.trace.devices > 1
          ? fmt::format(", gpu {} of {} devices", answer.trace.gpu, answer.trace.devices)
          : std::string();
  append_paragraph(out,
                   answer.trace.path + device + ": " + coverage_phrase(answer.trace) +
                       (model.empty() ? "" : "; " + model),
                   2);
  append_paragraph(out,
                   answer.device.capacity
                       ? fmt::format("on a device of {}", human_size(*answer.device.capacity))
                       : "on a device without limit (see --capacity)",
                   2);
  for (std::size_t side = 0; side < 2; ++side) {
    append_paragraph(out,
                     fmt::format("{}  {}{}", kSides.at(side), answer.diff.runs[side].strategy,
                                 mark(answer.diff.runs[side])),
                     2);
  }
  if (!diff.finished) return out.text();
  add_totals(out, answer);
  if (const Parting* first = diff.first()) {
    out += '\n';
    const bool from_start = first->event == 0 && !answer.trace.starts_empty;
    append_paragraph(out,
                     (from_start ? "They diverge at the start, which is " : "They diverge at ") +
                         where_phrase(answer, *first),
                     2);
    add_holdings(out, *first);
    if (diff.served && diff.served->event != first->event) {
      out += '\n';
      append_paragraph(out, "Only one serves " + where_phrase(answer, *diff.served), 2);
      add_holdings(out, *diff.served);
    }
    const bool shown =
        diff.lead && (diff.lead->furthest.event == first->event ||
                      (diff.served && diff.served->event == diff.lead->furthest.event));
    if (diff.lead && !shown) {
      out += '\n';
      append_paragraph(
          out, "The largest difference is at " + where_phrase(answer, diff.lead->furthest), 2);
      add_holdings(out, diff.lead->furthest);
    }
    out += '\n';
    append_paragraph(out, lead_sentence(answer), 2);
  }
  for (const Run& run : answer.diff.runs) {
    append_paragraph(out, inexact_sentence(run), 2);
    append_paragraph(out, served_sentence(run), 2);
  }
  return out.text();
}

}  // namespace memreplay
