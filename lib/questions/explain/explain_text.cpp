#include <fmt/format.h>

#include <algorithm>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "questions/explain/explain_report.hpp"
#include "questions/explain/growth.hpp"
#include "questions/explain/message_phrases.hpp"
#include "questions/explain/phrases.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

// "live peak at event 1,402 of 5,163, step 3"
std::string moment_line(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  const std::string events = human_count(device.trace.events);
  const std::string step = e.step > 0 ? fmt::format(", step {}", human_count(e.step)) : "";
  if (e.at_oom) {
    return fmt::format("out of memory at event {} of {}, stream {}{}{}{}", human_count(*e.event),
                       events, device.streams[e.stream], step, e.place.empty() ? "" : "   ",
                       shortened(e.place));
  }
  using Moment = Explanation::Moment;
  const std::string what = e.moment == Moment::peak            ? "live peak "
                           : e.moment == Moment::reserved_peak ? "reserved peak "
                                                               : "";
  if (e.moment == Moment::peak && device.trace.stated.at_peak) {
    const auto end = device.trace.stated.end_live;
    return "the state at the peak of the recording" +
           (end ? fmt::format(" ({} are live at its end)", human_size(*end)) : "");
  }
  if (e.moment == Moment::end) return "the state at the end of the recording";
  if (!e.event) return fmt::format("{}before the first of {} events", what, events);
  return fmt::format("{}at event {} of {}{}", what, human_count(*e.event), events, step);
}

std::string where_of(const Peak& peak) {
  return peak.event ? fmt::format("at event {}", human_count(*peak.event))
                    : std::string("before the first event");
}

std::string facts(const ExplainedDevice& device, std::size_t width) {
  const Explanation& e = device.explanation;
  std::string out = "  " + moment_line(device) + '\n';
  const auto line = [&](std::string_view name, Bytes bytes, const std::string& rest) {
    constexpr std::size_t kColumn = 29;
    out += fmt::format("  {:<13}{:>10}{}{}\n", name, human_size(bytes), rest.empty() ? "" : "    ",
                       wrapped(rest, kColumn, width));
  };
  std::string whose =
      device.device.capacity_from == CapacityFrom::recorded_oom ? "from the recorded failure" : "";
  if (e.at_oom) {
    line("request", e.requested,
         e.asked == e.requested
             ? ""
             : fmt::format("for it the allocator asked the device for {}", human_size(e.asked)));
  }
  if (const auto& aside = device.device.set_aside) {
    whose += fmt::format("; as much as {} has beside {} for its context and libraries", aside->card,
                         human_size(aside->bytes()));
  }
  if (e.total) line("device", *e.total, e.room == e.total ? whose : "");
  if (e.room && e.room != e.total) {
    line(e.total ? "usable" : "device", *e.room, e.total ? "what the allocator can use" : whose);
  }
  line("live", e.live_requested,
       fmt::format("in {}; {} with rounding", counted(e.live_blocks, "block"),
                   human_size(e.live_allocated)));
  if (e.pending > 0) line("pending", e.pending, "freed, waiting for another stream");
  line("reserved", e.reserved,
       fmt::format("in {}; {} free inside them, largest hole {}", counted(e.segments, "segment"),
                   human_size(e.free_inside), human_size(e.largest_free)));
  if (e.at_oom && e.room) line("free", e.device_free, "outside any segment");
  if (e.addresses && e.cause == Cause::address_space) {
    line("addresses", e.addresses->reserved,
         fmt::format("in {} of {}", counted(e.addresses->reservations, "expandable segment"),
                     counted(e.addresses->streams, "stream")));
  }
  if (e.at_oom && e.allowed < e.device_free) {
    line("limit", *e.allowance(), "all that the allocator may hold");
  }
  if (e.at_oom || !e.shows_requests) return out;
  if (e.live_peak.event != e.event) {
    line("live peak", e.live_peak.requested, where_of(e.live_peak));
  }
  if (e.reserved_peak.event != e.event) {
    line("reserved peak", e.reserved_peak.reserved,
         fmt::format("{}, with {} live", where_of(e.reserved_peak),
                     human_size(e.reserved_peak.requested)));
  }
  return out;
}

// The verdict, and what the program keeps more of with each step.
std::string answer_of(const ExplainedDevice& device) {
  const bool may_go_on = !device.explanation.fails && device.device.capacity;
  const std::string growth = leak_sentences(
      device.trace, may_go_on ? std::optional(device.device.usable()) : std::nullopt);
  return verdict_sentence(device) + (growth.empty() ? "" : " " + growth);
}

void add_table(Sheet& out, Table table, std::size_t left_out) {
  if (table.rows.empty()) return;
  if (left_out > 0) table.add(fmt::format("… and {} more", human_count(left_out)));
  out += '\n';
  append_table(out, table);
}

void add_pins(Sheet& out, const Explanation& e) {
  Table table{{left(fmt::format(" What keeps {} from being returned, oldest first",
                                human_size(e.pins.pinned))),
               "pinned", "segments", "blocks"}};
  // Only the heaviest are shown, in the order of their age.
  std::vector<Bytes> weights;
  for (const Pin& pin : e.pins.by_place) weights.push_back(pin.pinned);
  std::ranges::sort(weights, std::greater{});
  const Bytes least = weights.size() > e.rows ? weights[e.rows - 1] : 0;
  for (const Pin& pin : e.pins.by_place) {
    if (pin.pinned < least || table.rows.size() == e.rows) continue;
    table.add("   " + shortened(pin.place), human_size(pin.pinned), human_count(pin.segments),
              human_count(pin.blocks));
  }
  const std::size_t rows = table.rows.size();
  add_table(out, std::move(table), e.pins.by_place.size() - rows);
}

void add_live(Sheet& out, const Explanation& e) {
  const std::string by = e.by == PlaceBy::place      ? ""
                         : e.by == PlaceBy::unfolded ? ", packages unfolded"
                                                     : fmt::format(", by {}", name_of(e.by));
  Table table{{left(" Live memory" + by), "bytes", "blocks"}};
  for (std::size_t i = 0; i < std::min(e.rows, e.live.size()); ++i) {
    table.add("   " + shortened(e.live[i].place), human_size(e.live[i].bytes),
              human_count(e.live[i].blocks));
  }
  add_table(out, std::move(table), e.live.size() - std::min(e.rows, e.live.size()));
}

std::string pool_name(const ExplainedDevice& device, const PoolRow& row) {
  const std::string& name = device.pool_names[row.pool];
  const std::string kind = row.small_pool ? "small" : "large";
  return name.empty() ? kind : fmt::format("private {} {}", name, kind);
}

void add_pools(Sheet& out, const ExplainedDevice& device) {
  if (device.explanation.pools.size() < 2) return;
  Table table{
      {left(" Pool"), "stream", spare("segments", 1), "reserved", "live", "free", "largest hole"}};
  for (const PoolRow& row : device.explanation.pools) {
    table.add("   " + pool_name(device, row), device.streams[row.stream], human_count(row.segments),
              human_size(row.reserved), human_size(row.allocated), human_size(row.free),
              human_size(row.largest_free));
  }
  add_table(out, std::move(table), 0);
}

std::string model_line(const ExplainedDevice& device) {
  if (!device.model_check) return {};
  const VerifyRun& check = *device.model_check;
  if (check.verdict == Verdict::unsupported) {
    return "model check: not possible, " + check.reason + ".";
  }
  return fmt::format(
      "model check: {} of {} placements and {} of {} segment events of this recording "
      "reproduced{}{}.",
      human_count(check.allocs_matched), human_count(check.allocs),
      human_count(check.segment_events_matched), human_count(check.segment_events),
      check.reason.empty() ? "" : "; ", check.reason);
}

void append_explained(Sheet& out, const ExplainedDevice& device) {
  if (!device.messages.empty()) return append_messages(out, device);
  const Explanation& e = device.explanation;
  const TextStyle& style = out.style();
  if (device.among_others)
    out += fmt::format("{} {}\n", device.trace.path, gpu_label(device.trace.gpu));
  if (device.asks_growth) return append_growth(out, device);
  const std::string said = wrapped(answer_of(device), 0, style.width);
  out += (e.at_oom ? red(said, style) : bold(said, style)) + "\n\n" + facts(device, style.width);
  if (e.by_phase) append_phases(out, e);
  const bool pins_first = e.cause == Cause::fragmentation || e.cause == Cause::none;
  if (pins_first) add_pins(out, e);
  add_live(out, e);
  if (!pins_first && e.cause != Cause::shortage) add_pins(out, e);
  out += tree_text(e);
  add_pools(out, device);
  if (!e.by_phase) append_phases(out, e);
  out += '\n';
  for (const Finding& finding : findings(device)) {
    if (!finding.of_verdict && finding.bytes < e.reserved / 200) continue;  // not worth a line
    const std::string remedy = finding.remedy.empty() ? "" : " To fix: " + finding.remedy + '.';
    append_paragraph(out, finding.what + '.' + remedy, 2);
  }
}

void append_searched(Sheet& out, const ExplainedDevice& device) {
  if (device.asks_growth) {
    if (device.growth->room) append_paragraph(out, capacity_sentence(device.device), 2);
    return;
  }
  append_paragraph(out, advice(device), 2);
  if (!device.messages.empty()) {
    append_paragraph(out, message_decides(device.messages.front()), 2);
    return append_paragraph(out, message_record(device.messages.front()), 2);
  }
  if (!device.explanation.shows_requests) {
    const bool is_torch = device.trace.format.starts_with("torch");
    if (!is_torch) append_paragraph(out, "The recording: " + device.trace.detail + ".", 2);
    append_paragraph(out,
                     "To see why, " + (is_torch ? how_to_record(device.trace)
                                                : "record the calls of that allocator, not only "
                                                  "live memory (memreplay list formats)."),
                     2);
  }
  append_paragraph(out, capacity_sentence(device.device), 2);
  for (const std::string& remark : device.remarks) append_paragraph(out, remark, 2);
  append_paragraph(out, pluggable_pools_sentence(device.trace), 2);
  append_paragraph(out, model_line(device), 2);
  const Explanation& e = device.explanation;
  if (!e.fails) return;
  const std::optional<Bytes> capacity = device.device.capacity ? device.device.capacity : e.room;
  append_paragraph(out, other_program_sentence(device.trace.path, capacity), 2);
}

}  // namespace

std::string explained_text(const ExplainedDevice& device, const TextStyle& style) {
  Sheet out(style);
  append_explained(out, device);
  return out.text();
}

std::string searched_text(const ExplainedDevice& device, const TextStyle& style,
                          std::size_t before) {
  Sheet out(style);
  append_searched(out, device);
  append_answer_again(out, device.asks_growth ? growth_sentence(*device.growth) : answer_of(device),
                      before);
  return out.text();
}

std::string to_text(const ExplainAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  for (const ExplainedDevice& device : answer.devices) {
    if (!out.empty()) out += '\n';
    append_explained(out, device);
    append_searched(out, device);
  }
  return out.text();
}

}  // namespace memreplay
