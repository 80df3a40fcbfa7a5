#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/diff/diff.hpp"
#include "report/diff/phrases.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::array<const char*, 2> kSides = {"A", "B"};

void append(std::string& out, const std::string& text) {
  if (!text.empty()) out += "  " + wrapped(text, 2) + '\n';
}

std::string refusals(const RunReport& run) {
  return run.metrics.ooms == 0 ? run.strategy + " serves every request"
                               : fmt::format("{} runs out of memory {}", run.strategy,
                                             counted(run.metrics.ooms, "time"));
}

std::string answer(const StrategiesReport& report) {
  const auto& [a, b] = report.runs;
  const StrategiesDiff& diff = report.diff;
  if (!diff.finished) return "Interrupted: nothing is known of where they part.";
  if (diff.first() == nullptr) {
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
  if (in_a == in_b) {
    return text + fmt::format("Both reserve {} at their peaks.", human_size(in_a));
  }
  const auto [shown_a, shown_b] = sizes_apart(in_a, in_b);
  return text + fmt::format("{} reserves {} {} at its peak than {}: {} instead of {}.", b.strategy,
                            human_size(std::max(in_a, in_b) - std::min(in_a, in_b)),
                            in_a < in_b ? "more" : "less", a.strategy, shown_b, shown_a);
}

void add_totals(std::string& out, const StrategiesReport& report) {
  const RunMetrics& a = report.runs[0].metrics;
  const RunMetrics& b = report.runs[1].metrics;
  Table table{{{"", true}, {"A"}, {"B"}, {"difference"}}, {}};
  const auto size = [&](const char* name, Bytes in_a, Bytes in_b) {
    const auto [shown_a, shown_b] = sizes_apart(in_a, in_b);
    table.rows.push_back({name, shown_a, shown_b, size_change(in_a, in_b)});
  };
  const auto count = [&](const char* name, std::uint64_t in_a, std::uint64_t in_b) {
    table.rows.push_back({name, human_count(in_a), human_count(in_b), count_change(in_a, in_b)});
  };
  size(" peak reserved", a.peak_reserved, b.peak_reserved);
  size(" peak allocated", a.peak_allocated, b.peak_allocated);
  count(" OOMs", a.ooms, b.ooms);
  count(" OOM retries", a.oom_retries, b.oom_retries);
  count(" device calls", report.runs[0].device_calls(), report.runs[1].device_calls());
  out += '\n' + text_table(table);
}

std::string event_phrase(const Parting& parting) {
  switch (parting.op) {
    case Op::allocate:
      return fmt::format("the request of {}", human_size(parting.size));
    case Op::oom:
      return fmt::format("the request of {} that the recorded program was refused",
                         human_size(parting.size));
    case Op::free:
    case Op::free_requested:
    case Op::free_completed:
      return fmt::format("the free of {}", human_size(parting.size));
    case Op::empty_cache:
      return "empty_cache";
    default:
      return "what the program returned to the device";
  }
}

std::string where_phrase(const StrategiesReport& report, const Parting& parting) {
  std::string text = "event " + human_count(parting.event);
  if (parting.step > 0) text += ", step " + human_count(parting.step);
  text += ": " + event_phrase(parting);
  if (parting.stream < report.streams.size() && report.streams[parting.stream] != 0) {
    text += fmt::format(", stream {}", report.streams[parting.stream]);
  }
  return parting.place.empty() ? text : text + ", " + parting.place;
}

void add_holdings(std::string& out, const Parting& parting) {
  const auto& [a, b] = parting.holds;
  Table table{{{"   after it", true}, {"A"}, {"B"}}, {}};
  const auto size = [&](const char* name, Bytes in_a, Bytes in_b) {
    const auto [shown_a, shown_b] = sizes_apart(in_a, in_b);
    table.rows.push_back({name, shown_a, shown_b});
  };
  if (is_request(parting.op)) {
    const auto served = [](const Holding& holding) { return holding.refused ? "no" : "yes"; };
    if (a.refused || b.refused) table.rows.push_back({"     served", served(a), served(b)});
  }
  size("     reserved", a.reserved, b.reserved);
  size("     allocated", a.allocated, b.allocated);
  size("     free inside", a.free, b.free);
  size("     largest hole", a.largest_free, b.largest_free);
  table.rows.push_back(
      {"     device calls", human_count(a.device_calls), human_count(b.device_calls)});
  out += text_table(table);
}

std::string lead_sentence(const StrategiesReport& report) {
  const StrategiesDiff& diff = report.diff;
  if (!diff.lead) return "They reserve the same after every event.";
  const Lead& lead = *diff.lead;
  const std::string until = lead.to >= report.trace.events
                                ? "to the end"
                                : fmt::format("up to event {}", human_count(lead.to));
  std::string text = fmt::format("{} reserves more from event {} {}, by {} after event {}",
                                 kSides.at(lead.more), human_count(lead.from), until,
                                 human_size(lead.difference()), human_count(lead.furthest.event));
  const std::uint64_t other = lead.more == 0 ? diff.events_b_more : diff.events_a_more;
  const std::uint64_t own = lead.more == 0 ? diff.events_a_more : diff.events_b_more;
  if (own > lead.to - lead.from) {
    text += fmt::format(", all in all after {} of {}", human_count(own),
                        counted(report.trace.events, "event"));
  }
  if (other > 0) {
    text += fmt::format("; {} after {}", kSides.at(1 - lead.more), counted(other, "event"));
  }
  return text + '.';
}

}  // namespace

std::string strategies_diff_text(const StrategiesReport& report, const TextStyle& style) {
  const StrategiesDiff& diff = report.diff;
  std::string out = bold(wrapped(answer(report), 0), style) + "\n\n";
  const ReplayReport head{report.trace, {}, {}, report.model_check};
  const std::string model = model_sentence(head);
  const std::string device =
      report.trace.devices > 1
          ? fmt::format(", gpu {} of {} devices", report.trace.gpu, report.trace.devices)
          : std::string();
  append(out, report.trace.path + device + ": " + coverage_phrase(report.trace) +
                  (model.empty() ? "" : "; " + model));
  append(out, report.device.capacity
                  ? fmt::format("on a device of {}", human_size(*report.device.capacity))
                  : "on a device without limit (see --capacity)");
  for (std::size_t side = 0; side < 2; ++side) {
    append(out, fmt::format("{}  {}{}", kSides.at(side), report.runs[side].strategy,
                            mark(report.runs[side])));
  }
  if (!diff.finished) return out;
  add_totals(out, report);
  if (const Parting* first = diff.first()) {
    out += '\n';
    const bool from_start = first->event == 0 && !report.trace.starts_empty;
    append(out, (from_start ? "They part at the start already, that is at " : "They part at ") +
                    where_phrase(report, *first));
    add_holdings(out, *first);
    if (diff.served && diff.served->event != first->event) {
      out += '\n';
      append(out, "Only one serves " + where_phrase(report, *diff.served));
      add_holdings(out, *diff.served);
    }
    const bool shown =
        diff.lead && (diff.lead->furthest.event == first->event ||
                      (diff.served && diff.served->event == diff.lead->furthest.event));
    if (diff.lead && !shown) {
      out += '\n';
      append(out, "Furthest apart at " + where_phrase(report, diff.lead->furthest));
      add_holdings(out, diff.lead->furthest);
    }
    out += '\n';
    append(out, lead_sentence(report));
  }
  for (const RunReport& run : report.runs) {
    append(out, inexact_sentence(run));
    append(out, served_sentence(run));
  }
  return out;
}

}  // namespace memreplay
