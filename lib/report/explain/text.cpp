#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "report/explain/explain.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kTop = 10;

std::string_view name_of(Cause cause) {
  constexpr std::string_view kNames[] = {"none", "shortage", "fragmentation", "outside"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string size_of(std::int64_t bytes) {
  return human_size(static_cast<Bytes>(std::llabs(bytes)));
}

// Names of C++ functions can be longer than a line.
std::string shortened(const std::string& place) {
  constexpr std::size_t kMost = 54;
  return place.size() <= kMost ? place : place.substr(0, kMost) + "…";
}

std::string verdict(const ExplainReport& report) {
  const Explanation& e = report.explanation;
  const std::string request = human_size(e.asked);
  if (e.cause != Cause::none && !e.at_oom) {
    return fmt::format("{}: not all that was there before the recording finds room under {}.",
                       e.cause == Cause::shortage ? "Shortage" : "Fragmentation", report.strategy);
  }
  const Bytes wanted = e.live_requested + e.asked;
  switch (e.cause) {
    case Cause::shortage:
      return fmt::format(
          "Shortage: what is live and the {} request together exceed the device by {}; no "
          "allocator "
          "setting will help.",
          request, human_size(wanted - std::min(wanted, *e.room)));
    case Cause::fragmentation:
      if (e.spare() < 0) {
        return fmt::format(
            "Fragmentation: the {} request would have fitted, with {} to spare; for it the "
            "allocator "
            "asked the device for {}.",
            human_size(e.requested),
            size_of(e.spare() + static_cast<std::int64_t>(e.asked - e.requested)), request);
      }
      return fmt::format("Fragmentation: the {} request would have fitted, with {} to spare.",
                         request, size_of(e.spare()));
    case Cause::outside:
      if (e.live_requested + e.requested <= *e.room) {
        return fmt::format(
            "Outside: a memory limit of {} refused the {} request; the device had {} free.",
            human_size(*e.allowance()), request, human_size(e.device_free));
      }
      return fmt::format(
          "Outside: the {} request would have fitted, did others not hold {} of the device.",
          request, human_size(*e.total - *e.room));
    case Cause::none:
      break;
  }
  const Bytes unused = e.reserved - std::min(e.reserved, e.live_allocated + e.pending);
  const std::string figures =
      fmt::format("{} reserved, {} of it live, {} free inside segments.", human_size(e.reserved),
                  human_size(e.live_allocated), human_size(unused));
  const std::string whose = report.strategy.empty() ? "" : " under " + report.strategy;
  if (e.chosen) return fmt::format("Before event {}{}: {}", human_count(e.event), whose, figures);
  return fmt::format("No failure: at the peak{} {}", whose, figures);
}

std::string facts(const ExplainReport& report) {
  const Explanation& e = report.explanation;
  std::string out;
  const std::string step = e.step > 0 ? fmt::format(", step {}", human_count(e.step)) : "";
  if (e.at_oom) {
    out += fmt::format("  out of memory at event {} of {}, stream {}{}{}{}\n", human_count(e.event),
                       human_count(report.trace.events), report.streams[e.stream], step,
                       e.place.empty() ? "" : "   ", shortened(e.place));
  } else {
    out += fmt::format("  before event {} of {}{}\n", human_count(e.event),
                       human_count(report.trace.events), step);
  }
  const auto line = [&](std::string_view name, Bytes bytes, const std::string& rest) {
    out += fmt::format("  {:<10}{:>10}{}{}\n", name, human_size(bytes), rest.empty() ? "" : "    ",
                       rest);
  };
  if (e.total) line("device", *e.total, "");
  if (e.room && e.room != e.total) {
    line(e.total ? "usable" : "device", *e.room, e.total ? "the rest is held by others" : "");
  }
  line("live", e.live_requested,
       fmt::format("in {}; {} with rounding", counted(e.live_blocks, "block"),
                   human_size(e.live_allocated)));
  if (e.pending > 0) line("pending", e.pending, "freed, waiting for another stream");
  line("reserved", e.reserved,
       fmt::format("in {}; {} free inside them, largest hole {}", counted(e.segments, "segment"),
                   human_size(e.free_inside), human_size(e.largest_free)));
  if (e.at_oom) line("free", e.device_free, "outside any segment");
  if (e.at_oom && e.allowed < e.device_free) {
    line("limit", *e.allowance(), "set by the program or its setting");
  }
  return out;
}

void add_table(std::string& out, Table table, std::size_t left_out) {
  if (table.rows.empty()) return;
  if (left_out > 0) {
    table.rows.push_back({fmt::format("… and {} more", human_count(left_out))});
    table.rows.back().resize(table.columns.size());
  }
  out += '\n' + text_table(table);
}

void add_pins(std::string& out, const Explanation& e) {
  Table table{
      {{fmt::format(" What keeps {} from being returned, oldest first", human_size(e.pins.pinned)),
        true},
       {"pinned"},
       {"segments"},
       {"blocks"}},
      {}};
  // Of many the heaviest, in the order of their age.
  std::vector<Bytes> weights;
  for (const Pin& pin : e.pins.by_place) weights.push_back(pin.pinned);
  std::ranges::sort(weights, std::greater{});
  const Bytes least = weights.size() > kTop ? weights[kTop - 1] : 0;
  for (const Pin& pin : e.pins.by_place) {
    if (pin.pinned < least || table.rows.size() == kTop) continue;
    table.rows.push_back({"   " + shortened(pin.place), human_size(pin.pinned),
                          human_count(pin.segments), human_count(pin.blocks)});
  }
  const std::size_t rows = table.rows.size();
  add_table(out, std::move(table), e.pins.by_place.size() - rows);
}

void add_live(std::string& out, const Explanation& e) {
  Table table{{{" What is live", true}, {"bytes"}, {"blocks"}}, {}};
  for (std::size_t i = 0; i < std::min(kTop, e.live.size()); ++i) {
    table.rows.push_back({"   " + shortened(e.live[i].place), human_size(e.live[i].bytes),
                          human_count(e.live[i].blocks)});
  }
  add_table(out, std::move(table), e.live.size() - std::min(kTop, e.live.size()));
}

std::string pool_name(const ExplainReport& report, const PoolRow& row) {
  const std::string& name = report.pool_names[row.pool];
  const std::string kind = row.small_pool ? "small" : "large";
  return name.empty() ? kind : fmt::format("private {} {}", name, kind);
}

void add_pools(std::string& out, const ExplainReport& report) {
  if (report.explanation.pools.size() < 2) return;
  Table table{{{" Pool", true},
               {"stream"},
               {"segments"},
               {"reserved"},
               {"live"},
               {"free"},
               {"largest hole"}},
              {}};
  for (const PoolRow& row : report.explanation.pools) {
    table.rows.push_back({"   " + pool_name(report, row),
                          std::to_string(report.streams[row.stream]), human_count(row.segments),
                          human_size(row.reserved), human_size(row.allocated), human_size(row.free),
                          human_size(row.largest_free)});
  }
  add_table(out, std::move(table), 0);
}

void add_phases(std::string& out, const Explanation& e) {
  Table table{{{" Phase", true}, {"times"}, {"peak requested"}, {"at event"}, {"peak reserved"}},
              {}};
  for (const PhasePeak& phase : e.phases) {
    if (table.rows.size() == kTop) break;
    table.rows.push_back(
        {std::string(3 + 2 * std::min(phase.depth, 5u), ' ') + shortened(phase.name),
         human_count(phase.times), human_size(phase.peak_requested), human_count(phase.peak_event),
         human_size(phase.peak_reserved)});
  }
  add_table(out, std::move(table), e.phases.size() - std::min(kTop, e.phases.size()));
}

void append(std::string& out, const std::string& text, std::size_t indent = 2) {
  if (!text.empty()) out += std::string(indent, ' ') + wrapped(text, indent) + '\n';
}

std::string model_line(const ExplainReport& report) {
  if (!report.model_check) return {};
  const VerifyRun& check = *report.model_check;
  if (check.verdict == "unsupported") return "model check: not possible, " + check.reason + ".";
  return fmt::format(
      "model check: {} of {} placements and {} of {} segment events of this recording "
      "reproduced.",
      human_count(check.allocs_matched), human_count(check.allocs),
      human_count(check.segment_events_matched), human_count(check.segment_events));
}

Json place_json(const PlaceSum& sum) {
  return {{"place", sum.place}, {"bytes", sum.bytes}, {"blocks", sum.blocks}};
}

Json explanation_json(const ExplainReport& report) {
  const Explanation& e = report.explanation;
  Json json;
  json["verdict"] = name_of(e.cause);
  json["event"] = e.event;
  json["sentence"] = verdict(report);
  json["strategy"] = text_or_null(report.strategy);
  json["at_oom"] = e.at_oom;
  json["step"] = e.step > 0 ? Json(e.step) : Json(nullptr);
  json["stream"] =
      e.stream < report.streams.size() ? Json(report.streams[e.stream]) : Json(nullptr);
  json["place"] = text_or_null(e.place);
  json["requested_bytes"] = e.requested;
  json["asked_of_device_bytes"] = e.asked;
  json["device_bytes"] = or_null(e.total);
  json["usable_bytes"] = or_null(e.room);
  json["spare_bytes"] = e.room ? Json(e.spare()) : Json(nullptr);
  json["device_free_bytes"] = e.at_oom ? Json(e.device_free) : Json(nullptr);
  json["live_requested_bytes"] = e.live_requested;
  json["live_allocated_bytes"] = e.live_allocated;
  json["live_blocks"] = e.live_blocks;
  json["pending_bytes"] = e.pending;
  json["reserved_bytes"] = e.reserved;
  json["segments"] = e.segments;
  json["free_inside_bytes"] = e.free_inside;
  json["largest_free_bytes"] = e.largest_free;
  json["pinned_bytes"] = e.pins.pinned;
  json["returnable_bytes"] = e.pins.returnable;
  json["kept_whole_bytes"] = e.kept_whole;
  json["unplaced_blocks"] = e.unplaced;
  json["pins"] = Json::array();
  for (const Pin& pin : e.pins.by_place) {
    json["pins"].push_back({{"place", pin.place},
                            {"pinned_bytes", pin.pinned},
                            {"segments", pin.segments},
                            {"blocks", pin.blocks},
                            {"oldest_event", or_null(pin.oldest)}});
  }
  json["live"] = Json::array();
  for (const PlaceSum& sum : e.live) json["live"].push_back(place_json(sum));
  json["rounding"] = Json::array();
  for (const SizeClassLoss& loss : e.rounding) {
    json["rounding"].push_back({{"from_bytes", loss.from},
                                {"blocks", loss.blocks},
                                {"requested_bytes", loss.requested},
                                {"allocated_bytes", loss.allocated}});
  }
  json["pools"] = Json::array();
  for (const PoolRow& row : e.pools) {
    json["pools"].push_back({{"pool", text_or_null(report.pool_names[row.pool])},
                             {"small", row.small_pool},
                             {"stream", report.streams[row.stream]},
                             {"segments", row.segments},
                             {"reserved_bytes", row.reserved},
                             {"allocated_bytes", row.allocated},
                             {"pending_bytes", row.pending},
                             {"free_bytes", row.free},
                             {"largest_free_bytes", row.largest_free}});
  }
  json["phases"] = Json::array();
  for (const PhasePeak& phase : e.phases) {
    json["phases"].push_back({{"name", phase.name},
                              {"depth", phase.depth},
                              {"times", phase.times},
                              {"peak_requested_bytes", phase.peak_requested},
                              {"peak_event", phase.peak_event},
                              {"peak_reserved_bytes", phase.peak_reserved}});
  }
  json["findings"] = Json::array();
  for (const Finding& finding : findings(report)) {
    json["findings"].push_back(
        {{"what", finding.what}, {"bytes", finding.bytes}, {"remedy", finding.remedy}});
  }
  json["advice"] = text_or_null(advice(report));
  json["remarks"] = report.remarks;
  return json;
}

}  // namespace

std::string explain_text(const std::vector<ExplainReport>& reports, const TextStyle& style) {
  std::string out;
  for (const ExplainReport& report : reports) {
    const Explanation& e = report.explanation;
    if (reports.size() > 1) {
      out += fmt::format("{}{} gpu {}\n", out.empty() ? "" : "\n", report.trace.path,
                         report.trace.gpu);
    }
    const std::string said = wrapped(verdict(report), 0);
    out += (e.at_oom ? red(said, style) : bold(said, style)) + "\n\n" + facts(report);
    if (e.cause == Cause::shortage || e.cause == Cause::outside) add_live(out, e);
    if (e.cause != Cause::shortage) add_pins(out, e);
    if (e.cause == Cause::none || (e.cause == Cause::fragmentation && e.pins.by_place.empty())) {
      add_live(out, e);
    }
    add_pools(out, report);
    add_phases(out, e);
    out += '\n';
    for (const Finding& finding : findings(report)) {
      if (finding.bytes < e.reserved / 200) continue;  // not worth a line
      append(out, fmt::format("{}. Helps: {}.", finding.what, finding.remedy));
    }
    append(out, advice(report));
    for (const std::string& remark : report.remarks) append(out, remark);
    append(out, model_line(report));
  }
  return out;
}

std::string explain_json(const std::vector<ExplainReport>& reports) {
  std::vector<Json> results;
  Json worst = nullptr;
  for (const ExplainReport& report : reports) {
    if (worst.is_null() && report.explanation.at_oom) worst = results.size();
    Json result = head_json("explain");
    result["trace"] = trace_json(report.trace);
    result.update(explanation_json(report));
    result["model_check"] = nullptr;
    if (report.model_check) result["model_check"] = verify_run_json(*report.model_check);
    results.push_back(std::move(result));
  }
  return dump_results("explain", std::move(results), std::move(worst));
}

Table explain_table(const std::vector<ExplainReport>& reports) {
  Table table{{{"trace", true},
               {"gpu"},
               {"verdict", true},
               {"event"},
               {"place", true},
               {"live_bytes"},
               {"live_blocks"},
               {"pinned_bytes"}},
              {}};
  for (const ExplainReport& report : reports) {
    const Explanation& e = report.explanation;
    std::map<std::string, std::pair<PlaceSum, Bytes>> places;
    for (const PlaceSum& sum : e.live) places[sum.place].first = sum;
    for (const Pin& pin : e.pins.by_place) places[pin.place].second = pin.pinned;
    for (const auto& [place, figures] : places) {
      table.rows.push_back({report.trace.path, std::to_string(report.trace.gpu),
                            std::string(name_of(e.cause)), std::to_string(e.event), place,
                            std::to_string(figures.first.bytes),
                            std::to_string(figures.first.blocks), std::to_string(figures.second)});
    }
  }
  return table;
}

}  // namespace memreplay
