#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "analysis/ranks/answer.hpp"
#include "analysis/ranks/request_stream.hpp"
#include "trace/json/json.hpp"
#include "trace/json/json_node.hpp"
#include "trace/mrt/mrt_bytes.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kSchema = "memreplay-ranks-part/1";
constexpr std::string_view kRanksFrom[] = {"names", "order"};

Json run_json(const RankRun& run) {
  Json json{{"strategy", run.strategy},
            {"peak_requested_bytes", run.peak_requested},
            {"peak_allocated_bytes", run.peak_allocated},
            {"peak_reserved_bytes", run.peak_reserved},
            {"ooms", run.ooms},
            {"oom_retries", run.oom_retries}};
  if (run.first_oom) json["first_oom"] = *run.first_oom;
  if (run.peak_interval) json["peak_low"] = run.peak_interval->low;
  if (run.peak_interval) json["peak_high"] = run.peak_interval->high;
  return json;
}

RankRun run_of(const JsonNode& node) {
  RankRun run{.strategy = node.at("strategy").text(),
              .peak_requested = node.at("peak_requested_bytes").whole(),
              .peak_allocated = node.at("peak_allocated_bytes").whole(),
              .peak_reserved = node.at("peak_reserved_bytes").whole(),
              .ooms = node.at("ooms").whole(),
              .oom_retries = node.at("oom_retries").whole()};
  if (node.has("first_oom")) run.first_oom = node.at("first_oom").whole();
  if (node.has("peak_low")) {
    run.peak_interval = {node.at("peak_low").whole(), node.at("peak_high").whole()};
  }
  return run;
}

Hash128 hash_at(const JsonNode& node) {
  const auto hash = hash_of_hex(node.text());
  if (!hash) node.refuse("32 hexadecimal digits");
  return *hash;
}

/// The requests of a stream, which are those that its hash tells.
std::string packed_at(const JsonNode& stream) {
  const JsonNode packed = stream.at("packed");
  const auto bytes = bytes_of_hex(packed.text());
  if (!bytes) packed.refuse("hexadecimal digits");
  try {
    if (Beginnings(unpacked(*bytes)).whole() == hash_at(stream.at("stream"))) return *bytes;
  } catch (const MrtFault&) {
  }
  packed.refuse("the requests of this stream, whole");
}

/// One of the names of a kind, by its place among them.
template <typename Kind>
Kind kind_of(const JsonNode& node, std::initializer_list<Kind> kinds) {
  const auto found = std::ranges::find(kinds, node.text(), [](Kind kind) { return name_of(kind); });
  if (found == kinds.end()) node.refuse("a kind that this release knows");
  return *found;
}

Json early_end_json(const EarlyEnd& end) {
  return Json{{"event", end.event}, {"why", name_of(end.why)}, {"pass", name_of(end.pass)}};
}

EarlyEnd early_end_of(const JsonNode& node) {
  using Why = EarlyEnd::Why;
  using Pass = EarlyEnd::Pass;
  return {
      .event = node.at("event").whole(),
      .why = kind_of(node.at("why"), {Why::first_step, Why::unlike_earlier, Why::rest_may_need_more,
                                      Why::steps_unknown, Why::oom_untold}),
      .pass = kind_of(node.at("pass"), {Pass::forward, Pass::backward, Pass::later})};
}

Json row_json(const RankRow& row) {
  Json runs = Json::array();
  for (const RankRun& run : row.runs) runs.push_back(run_json(run));
  Json json{{"rank", row.rank},
            {"path", row.path},
            {"gpu", row.gpu},
            {"events", row.events},
            {"stream", hex_of(row.stream)},
            {"runs", std::move(runs)}};
  if (row.early_end) json["ends_early"] = early_end_json(*row.early_end);
  if (row.capacity) json["capacity_bytes"] = *row.capacity;
  return json;
}

RankRow row_of(const JsonNode& node) {
  RankRow row{.rank = node.at("rank").whole(),
              .path = node.at("path").text(),
              .gpu = node.at("gpu").gpu(),
              .events = node.at("events").whole(),
              .stream = hash_at(node.at("stream"))};
  if (node.has("ends_early")) row.early_end = early_end_of(node.at("ends_early"));
  if (node.has("capacity_bytes")) row.capacity = node.at("capacity_bytes").whole();
  for (const JsonNode& run : node.at("runs").elements()) row.runs.push_back(run_of(run));
  return row;
}

}  // namespace

std::string part_text(const RanksPart& part) {
  Json json{{"schema", kSchema},
            {"asked", part.asked},
            {"ranks_from", kRanksFrom[static_cast<std::size_t>(part.ranks_from)]},
            {"of", part.of},
            {"shards", std::vector<std::size_t>(part.shards.begin(), part.shards.end())},
            {"others", part.others},
            {"rows", Json::array()},
            {"unreadable", Json::array()},
            {"streams", Json::array()}};
  for (const RankRow& row : part.rows) json["rows"].push_back(row_json(row));
  for (const UnreadableRank& file : part.unreadable) {
    json["unreadable"].push_back(
        {{"rank", file.rank}, {"path", file.path}, {"message", file.message}});
  }
  for (const auto& [hash, stream] : part.streams) {
    json["streams"].push_back(
        {{"stream", hex_of(hash)}, {"rank", stream.rank}, {"packed", hex_of(stream.packed)}});
  }
  return json.dump(2) + '\n';
}

RanksPart read_part(const std::string& path) { return parse_part(path, text_of_file(path)); }

RanksPart parse_part(const std::string& path, const std::string& text) {
  const auto json = parse_json(path, text, "a part as ranks --shard I/N --json=F writes it");
  const JsonNode root(path, "", *json);
  if (root.at("schema").text() != kSchema) root.at("schema").refuse(fmt::format("\"{}\"", kSchema));
  RanksPart part{.file = path,
                 .asked = root.at("asked").text(),
                 .of = static_cast<std::size_t>(root.at("of").whole()),
                 .others = static_cast<std::size_t>(root.at("others").whole())};
  const bool by_order = root.at("ranks_from").text() == kRanksFrom[1];
  part.ranks_from = by_order ? RanksFrom::order : RanksFrom::names;
  for (const JsonNode& shard : root.at("shards").elements()) part.shards.insert(shard.whole());
  for (const JsonNode& row : root.at("rows").elements()) {
    part.rows.push_back(row_of(row));
    const std::size_t runs = part.rows.back().runs.size();
    if (runs == 0 || runs != part.rows.front().runs.size()) {
      row.at("runs").refuse("a run of each strategy");
    }
  }
  for (const JsonNode& file : root.at("unreadable").elements()) {
    part.unreadable.push_back(
        {file.at("rank").whole(), file.at("path").text(), file.at("message").text()});
  }
  for (const JsonNode& stream : root.at("streams").elements()) {
    part.streams[hash_at(stream.at("stream"))] = {stream.at("rank").whole(), packed_at(stream)};
  }
  for (const JsonNode& row : root.at("rows").elements()) {
    const JsonNode stream = row.at("stream");
    if (!part.streams.contains(hash_at(stream))) stream.refuse("one of \"streams\"");
  }
  return part;
}

}  // namespace memreplay
