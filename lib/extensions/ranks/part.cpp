#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/program.hpp"
#include "extensions/ranks/answer.hpp"
#include "extensions/ranks/request_stream.hpp"
#include "program/places.hpp"
#include "run/devices.hpp"
#include "run/question.hpp"
#include "run/rank_files.hpp"
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
  if (row.facts.early_end) json["ends_early"] = early_end_json(*row.facts.early_end);
  if (!row.facts.starts_empty) json["starts"] = "warm";
  if (row.capacity) json["capacity_bytes"] = *row.capacity;
  for (const RankElsewhere& other : row.elsewhere) {
    json["elsewhere"].push_back(
        {{"gpu", other.gpu}, {"peak_reserved_bytes", other.peak_reserved}, {"place", other.place}});
  }
  return json;
}

RankRow row_of(const JsonNode& node) {
  RankRow row{.rank = node.at("rank").whole(),
              .path = node.at("path").text(),
              .gpu = node.at("gpu").gpu(),
              .events = node.at("events").whole(),
              .stream = hash_at(node.at("stream"))};
  if (node.has("ends_early")) row.facts.early_end = early_end_of(node.at("ends_early"));
  row.facts.starts_empty = !node.has("starts");
  row.facts.has_events = row.events > 0;
  if (node.has("capacity_bytes")) row.capacity = node.at("capacity_bytes").whole();
  if (node.has("elsewhere")) {
    for (const JsonNode& other : node.at("elsewhere").elements()) {
      row.elsewhere.push_back({other.at("gpu").gpu(), other.at("peak_reserved_bytes").whole(),
                               other.at("place").text()});
    }
  }
  for (const JsonNode& run : node.at("runs").elements()) row.runs.push_back(run_of(run));
  return row;
}

/// Every `of`-th of what all machines see alike.
template <typename T>
std::vector<T> share_of(const std::vector<T>& all, const RanksQuestion::Shard& shard) {
  std::vector<T> share;
  for (std::size_t i = shard.number - 1; i < all.size(); i += shard.of) share.push_back(all[i]);
  return share;
}

std::string asked_of(const RanksQuestion& question) {
  std::string asked;
  for (const StrategySpec& spec : question.strategies) asked += spec.text + "; ";
  const Setup& setup = question.setup;
  const SimulatedDeviceOptions device = setup.simulated();
  const auto size = [](std::optional<Bytes> bytes) {
    return bytes ? std::to_string(*bytes) : std::string("-");
  };
  const bool endless = setup.endless;
  return asked +
         fmt::format(
             "torch {}, capacity {}, reserve {}, granularity {}, addresses {} {}, "
             "gpu {}, start {}{}{}",
             setup.release, endless ? "none" : size(setup.capacity), device.reserve,
             device.granularity, static_cast<int>(device.policy), size(setup.address_gap),
             question.input.gpu.value_or(-1), setup.start == StartMode::cold ? "cold" : "auto",
             setup.ignore_empty_cache ? ", ignoring empty_cache" : "",
             setup.address_space ? fmt::format(", {} of addresses", *setup.address_space) : "");
}

RankRun rank_run(const Run& run) {
  const RunMetrics& m = run.metrics;
  RankRun kept{.strategy = run.strategy,
               .peak_requested = m.peak_requested,
               .peak_allocated = m.peak_allocated,
               .peak_reserved = m.peak_reserved,
               .ooms = m.ooms,
               .oom_retries = m.oom_retries};
  if (m.first_oom) kept.first_oom = m.first_oom->event;
  if (run.interval) kept.peak_interval = run.interval->peak_reserved;
  return kept;
}

/// Takes what threads found, in any order.
class Collected {
 public:
  explicit Collected(RanksPart& part) : part_(part) {}

  void take(RankRow row, const Chosen& chosen, RequestStream stream) {
    // Packed by one thread while others replay.
    const std::lock_guard lock(taking_);
    const auto [kept, is_new] = part_.streams.try_emplace(row.stream);
    if (is_new || row.rank < kept->second.rank) {
      name_places(*chosen.recording, *chosen.trace, stream);
      kept->second = {row.rank, packed(stream)};
    }
    part_.rows.push_back(std::move(row));
  }
  void refuse(const RankFile& file, const std::string& message) {
    const std::lock_guard lock(taking_);
    part_.unreadable.push_back({file.rank, file.path, message});
  }
  void note(const std::string& note) {
    const std::lock_guard lock(taking_);
    part_.notes.push_back(note);
  }

 private:
  RanksPart& part_;
  std::mutex taking_;
};

/// The call site of the first request; empty where none is recorded.
std::string first_place(const Recording& recording, const Trace& trace) {
  if (!says_who_asked(trace)) return {};
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (!is_request(trace.ops[event])) continue;
    const Asker asker = asker_of(trace, event);
    return asker.known() ? Places(recording).name_of(asker) : std::string();
  }
  return {};
}

/// Reads, replays and reduces one recording.
void take_rank(const RankFile& file, const RanksQuestion& question,
               const std::vector<OpenDevice>& devices, const Control& control,
               Collected& collected) {
  InputOptions input = question.input;
  input.paths = {file.path};
  input.read.progress = {};
  input.read.note = [&](const std::string& note) { collected.note(note); };
  const Inputs inputs(input);
  const ReplayQuestion replays{.strategies = question.strategies, .setup = question.setup};
  const ReplayAnswer answered = answer(inputs, devices, replays, control);
  if (answered.interrupted) return;
  // A rank may touch other devices than its own: it is the one that fares worst.
  const std::size_t own = worst_of(answered.traces);
  const TraceRuns& replayed = answered.traces[own];
  const Chosen& chosen = inputs.chosen()[own];
  RequestStream stream = request_stream(*chosen.trace);
  RankRow row{.rank = file.rank,
              .path = file.path,
              .gpu = chosen.trace->gpu,
              .events = chosen.trace->size(),
              .stream = Beginnings(stream).whole()};
  for (std::size_t i = 0; i < inputs.chosen().size(); ++i) {
    const Chosen& other = inputs.chosen()[i];
    const Bytes peak = answered.traces[i].runs.front().metrics.peak_reserved;
    if (i == own || peak == 0 || other.trace->gpu < 0) continue;
    row.elsewhere.push_back({other.trace->gpu, peak, first_place(*other.recording, *other.trace)});
  }
  row.facts = replayed.trace.facts();
  row.capacity = replayed.device.capacity;
  for (const Run& run : replayed.runs) row.runs.push_back(rank_run(run));
  collected.take(std::move(row), chosen, std::move(stream));
}

void sort(RanksPart& part) {
  std::ranges::sort(part.rows, {}, &RankRow::rank);
  std::ranges::sort(part.unreadable, {}, &UnreadableRank::rank);
  std::ranges::sort(part.notes);
}

void refuse_twice(const std::vector<RanksPart>& parts) {
  std::map<std::pair<std::size_t, std::size_t>, const RanksPart*> known;
  for (const RanksPart& part : parts) {
    for (const std::size_t shard : part.shards) {
      const auto [first, is_new] = known.try_emplace({shard, part.of}, &part);
      if (is_new) continue;
      throw UsageError(fmt::format("shard {}/{} is in {} and in {}; expected each part once", shard,
                                   part.of, first->second->file, part.file));
    }
  }
}

void add(RanksPart&& other, RanksPart& all) {
  if (other.of != all.of || other.ranks_from != all.ranks_from || other.asked != all.asked) {
    throw UsageError(
        fmt::format("{} and {} are parts of different runs ('{}' in {} parts, '{}' in {}); "
                    "expected parts of one",
                    all.file, other.file, all.asked, all.of, other.asked, other.of));
  }
  all.shards.insert(other.shards.begin(), other.shards.end());
  all.others += other.others;
  std::ranges::move(other.rows, std::back_inserter(all.rows));
  std::ranges::move(other.unreadable, std::back_inserter(all.unreadable));
  for (auto& [hash, stream] : other.streams) {
    const auto [kept, is_new] = all.streams.try_emplace(hash, stream);
    if (!is_new && stream.rank < kept->second.rank) kept->second = std::move(stream);
  }
}

}  // namespace

RanksPart ranks_part(const RanksQuestion& question, const Control& control) {
  const RankFiles found = rank_files(question.input.paths);
  if (found.files.empty()) {
    throw UsageError(fmt::format("{}: no recording in it; expected at least one of a rank",
                                 fmt::join(question.input.paths, ", ")));
  }
  const std::vector<RankFile> files = share_of(found.files, question.shard);
  RanksPart part{.asked = asked_of(question),
                 .ranks_from = found.ranks_from,
                 .of = question.shard.of,
                 .shards = {question.shard.number},
                 .others = share_of(found.others, question.shard).size()};
  const std::vector<OpenDevice> devices = open_devices(question.setup, question.strategies);
  Collected collected(part);
  std::mutex showing;
  std::size_t done = 0;
  const auto work = [&](std::size_t i) {
    if (control.stopped()) return;
    try {
      take_rank(files[i], question, devices, {.stop = control.stop}, collected);
    } catch (const InputError& error) {
      collected.refuse(files[i], error.what());
    }
    const std::lock_guard lock(showing);
    control.show("replaying the ranks", double(++done) / double(files.size()));
  };
  // There is one Python.
  for_each_parallel(files.size(), question.input.read.python_reader ? 1 : question.jobs, work);
  part.interrupted = control.stopped();
  sort(part);
  return part;
}

RanksPart merged(std::vector<RanksPart> parts) {
  if (parts.empty()) throw UsageError("no part to merge");
  refuse_twice(parts);
  RanksPart all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) add(std::move(parts[i]), all);
  sort(all);
  return all;
}

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
