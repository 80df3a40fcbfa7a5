#include "report/explain/told.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/explain/phrases.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

using Figure = std::optional<ToldBytes>;

Json bytes_json(const Figure& figure) { return figure ? Json(figure->bytes) : Json(nullptr); }

std::string_view name_of(ToldFailure::Source source) {
  constexpr std::string_view kNames[] = {"bfc", "torch-message", "torch-summary"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string among(const Figure& figure, std::string_view what) {
  return figure ? fmt::format("{} {}", human_size(figure->bytes), what) : std::string();
}

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::string in(const std::optional<std::uint64_t>& count, const char* noun) {
  return count ? "in " + counted(*count, noun) : std::string();
}

std::string told_facts(const ExplainedDevice& device) {
  const ToldFailure& f = device.told->failure;
  const bool bfc = f.source == ToldFailure::Source::bfc;
  std::string out = fmt::format(
      "  {}{}{}{}\n", device.trace.detail, f.allocator.empty() ? "" : " (" + f.allocator + ")",
      f.gpu ? fmt::format(", device {}", *f.gpu) : "",
      f.reports > 1 ? fmt::format("; the first of {}", human_count(f.reports)) : "");
  const auto line = [&](std::string_view name, const Figure& figure, const std::string& rest) {
    if (!figure) return;
    out += fmt::format("  {:<13}{:>10}{}{}\n", name, human_size(figure->bytes),
                       rest.empty() ? "" : "    ", rest);
  };
  line("request", f.requested, "");
  line("device", f.device,
       device.told->others ? among(ToldBytes{*device.told->others}, "held by others") : "");
  line("limit", f.limit, "");
  line("live", f.live,
       listed({in(f.live_blocks, bfc ? "chunk" : "block"),
               among(f.live_requested, "of them asked for"), among(f.live_peak, "at most")}));
  line("reserved", f.reserved,
       listed({in(f.segments, bfc ? "region" : "segment"), among(f.free_inside, "free inside"),
               f.largest_free ? "largest hole " + human_size(f.largest_free->bytes) : "",
               among(f.not_releasable, "not releasable"), among(f.reserved_peak, "at most")}));
  line("free", f.device_free, "outside any segment");
  return out;
}

void append_bins(Sheet& out, const ToldFailure& failure) {
  if (failure.bins.empty()) return;
  Table table{{{" Chunks from", true}, {"chunks"}, {"in use"}, {"bytes"}, {"bytes in use"}}, {}};
  for (const ToldBin& bin : failure.bins) {
    table.rows.push_back({"   " + human_size(bin.from), human_count(bin.chunks),
                          human_count(bin.in_use), human_size(bin.size.bytes),
                          human_size(bin.size_in_use.bytes)});
  }
  out += '\n';
  append_table(out, table);
}

}  // namespace

void append_told(Sheet& out, const ExplainedDevice& device) {
  const TextStyle& style = out.style();
  if (device.among_others) out += device.trace.path + '\n';
  const std::string said = wrapped(verdict_sentence(device), 0, style.width);
  out += (device.explanation.at_oom ? red(said, style) : bold(said, style)) + "\n\n";
  out += told_facts(device);
  append_bins(out, device.told->failure);
  out += '\n';
}

Json told_json(const ExplainedDevice& device) {
  const ToldExplanation& told = *device.told;
  const ToldFailure& f = told.failure;
  Json json;
  json["requested_bytes"] = json["asked_of_device_bytes"] = bytes_json(f.requested);
  json["device_bytes"] = bytes_json(f.device);
  const bool torch = f.device_free && f.reserved;
  json["usable_bytes"] =
      torch ? Json(f.device_free->bytes + f.reserved->bytes) : bytes_json(f.limit);
  json["spare_bytes"] = or_null(told.room);
  json["device_free_bytes"] = bytes_json(f.device_free);
  json["oom_retries"] = or_null(f.retries);
  json["live_peak"] = {{"event", nullptr},
                       {"live_requested_bytes", nullptr},
                       {"live_allocated_bytes", bytes_json(f.live_peak)},
                       {"reserved_bytes", nullptr}};
  json["reserved_peak"] = {{"event", nullptr},
                           {"live_requested_bytes", nullptr},
                           {"reserved_bytes", bytes_json(f.reserved_peak)}};
  json["live_requested_bytes"] = bytes_json(f.live_requested);
  json["live_allocated_bytes"] = bytes_json(f.live);
  json["live_blocks"] = or_null(f.live_blocks);
  json["reserved_bytes"] = bytes_json(f.reserved);
  json["segments"] = or_null(f.segments);
  json["free_inside_bytes"] = bytes_json(f.free_inside);
  json["largest_free_bytes"] = bytes_json(f.largest_free);
  for (const char* unseen : {"pending_bytes", "pinned_bytes", "returnable_bytes",
                             "kept_whole_bytes", "unplaced_blocks", "stream"}) {
    json[unseen] = nullptr;
  }
  Json bins = Json::array();
  for (const ToldBin& bin : f.bins) {
    bins.push_back({{"from_bytes", bin.from},
                    {"chunks", bin.chunks},
                    {"chunks_in_use", bin.in_use},
                    {"bytes", bin.size.bytes},
                    {"bytes_in_use", bin.size_in_use.bytes}});
  }
  json["told"] = {{"source", name_of(f.source)},
                  {"sure", told.sure},
                  {"missing", told.missing},
                  {"allocator", text_or_null(f.allocator)},
                  {"limit_bytes", bytes_json(f.limit)},
                  {"others_bytes", or_null(told.others)},
                  {"process_bytes", bytes_json(f.process)},
                  {"not_releasable_bytes", bytes_json(f.not_releasable)},
                  {"ooms", or_null(f.ooms)},
                  {"reports", f.reports},
                  {"bins", std::move(bins)},
                  {"next", told_beyond(device)}};
  return json;
}

}  // namespace memreplay
