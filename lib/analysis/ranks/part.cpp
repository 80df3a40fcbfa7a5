#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "analysis/parallel.hpp"
#include "analysis/ranks/answer.hpp"
#include "analysis/ranks/rank_files.hpp"
#include "analysis/ranks/request_stream.hpp"
#include "analysis/run/devices.hpp"
#include "analysis/run/question.hpp"
#include "core/error.hpp"
#include "core/gpu_label.hpp"

namespace memreplay {
namespace {

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
  const SimulatedDeviceOptions device = setup.device.simulated();
  const auto size = [](std::optional<Bytes> bytes) {
    return bytes ? std::to_string(*bytes) : std::string("-");
  };
  const bool endless = setup.device.endless;
  return asked + fmt::format(
                     "torch {}, capacity {}, reserve {}, granularity {}, addresses {} {}, "
                     "gpu {}, start {}{}{}",
                     setup.release, endless ? "none" : size(setup.device.capacity), device.reserve,
                     device.granularity, static_cast<int>(device.policy),
                     size(setup.device.address_gap), question.input.gpu.value_or(-1),
                     setup.start == StartMode::cold ? "cold" : "auto",
                     setup.ignore_empty_cache ? ", ignoring empty_cache" : "",
                     setup.device.address_space
                         ? fmt::format(", {} of addresses", *setup.device.address_space)
                         : "");
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
  if (inputs.chosen().size() > 1) {
    collected.note(
        fmt::format("{}: has {} devices; of this rank counts {}, which fares "
                    "worst (--gpu N chooses another)",
                    file.path, inputs.chosen().size(), gpu_label(chosen.trace->gpu)));
  }
  RequestStream stream = request_stream(*chosen.trace);
  RankRow row{.rank = file.rank,
              .path = file.path,
              .gpu = chosen.trace->gpu,
              .events = chosen.trace->size(),
              .stream = Beginnings(stream).whole()};
  row.early_end = replayed.trace.early_end;
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
    throw UsageError(fmt::format(
        "{} and {} are answers to different questions ('{}' in {} parts, '{}' in {}); expected "
        "parts of one",
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
    throw UsageError(fmt::format("{}: no recording in it; expected one of a rank at least",
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

}  // namespace memreplay
