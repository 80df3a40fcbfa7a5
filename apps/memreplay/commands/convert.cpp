#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "analysis/convert/recorded_replay.hpp"
#include "commands/minimise.hpp"
#include "core/error.hpp"
#include "inputs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/output_file.hpp"
#include "output/terminal.hpp"
#include "strategy/torch/lint.hpp"
#include "summaries.hpp"
#include "trace/anonymise.hpp"
#include "trace/csv/csv.hpp"
#include "trace/json/json_writer.hpp"
#include "trace/pickle/pickle_writer.hpp"
#include "trace/torch/torch_writer.hpp"

namespace memreplay {
namespace {

enum class Target { csv, pickle, json };

struct Options {
  InputOptions input;
  RunOptions run;
  bool anonymise = false;
  MinimiseAsked minimise;
};

Target target_of(const std::string& path) {
  if (path == "-" || path.ends_with(".csv")) return Target::csv;
  if (path.ends_with(".pickle")) return Target::pickle;
  if (path.ends_with(".json")) return Target::json;
  throw UsageError(fmt::format(
      "{}: the name does not end in a format that can be written; expected NAME.pickle, NAME.json "
      "or NAME.csv, or - for CSV on standard output",
      path));
}

void check(const Options& options, Target target) {
  if (options.run.strategies.size() > 1) {
    throw UsageError(fmt::format("{} strategies given; one file holds the replay of one",
                                 options.run.strategies.size()));
  }
  refuse_without_minimise(options.minimise);
  if (options.minimise.wanted) return;
  const bool replays = !options.run.strategies.empty();
  if (target == Target::csv && replays) {
    throw UsageError(
        "-s with a CSV: it holds what the program asked for, which no strategy changes; expected "
        "NAME.pickle or NAME.json, or --minimise");
  }
  if (target == Target::csv || replays || options.anonymise) return;
  if (options.input.gpu) {
    throw UsageError(
        "--gpu: a snapshot is written back whole; a part of it can be replayed (-s) or anonymised");
  }
  if (options.input.read.python_reader) {
    throw UsageError("--reader python: what it reads cannot be written back as it is");
  }
}

const char* s_of(std::uint64_t count) { return count == 1 ? "" : "s"; }

/// Says what the file does not hold of what was to be written.
void tell_of(const JsonLosses& losses, const std::string& path) {
  const auto tell = [&](std::uint64_t count, const char* what, const char* fate) {
    if (count == 0) return;
    fmt::print(stderr, "memreplay: {}: JSON cannot hold {} ({} here); {}\n", path, what, count,
               fate);
  };
  tell(losses.byte_strings, "byte strings", "they are texts, a character below U+0100 a byte");
  tell(losses.texts, "texts that are no UTF-8", "the bytes in question are U+FFFD");
  tell(losses.keys, "keys other than texts", "they are texts");
  tell(losses.numbers, "infinite or undefined numbers", "they are null");
}

/// Lets `write` write the whole file.
template <typename Write>
void write_snapshot(OutputFile& out, const std::string& path, Target target, const Write& write) {
  if (target == Target::pickle) {
    PickleWriter writer(out.stream());
    write(writer);
    out.commit();
    return;
  }
  JsonWriter writer(out.stream());
  write(writer);
  out.commit();
  tell_of(writer.losses(), path);
}

std::vector<const Trace*> traces_of(const Recording& recording, const InputOptions& input) {
  auto traces = chosen_traces(recording, input.gpu);
  if (traces.empty()) throw InputError(recording.path, "", "has no events; nothing to convert");
  return traces;
}

const Trace& only_trace(const Recording& recording, const InputOptions& input) {
  const auto traces = traces_of(recording, input);
  if (traces.size() > 1) {
    std::string gpus;
    for (const Trace* trace : traces)
      gpus += fmt::format("{}{}", gpus.empty() ? "" : ", ", trace->gpu);
    throw UsageError(
        fmt::format("{}: has events of gpu {}; choose one with --gpu N", recording.path, gpus));
  }
  return *traces.front();
}

/// Nothing after Ctrl-C.
std::optional<Recording> replayed(const Recording& recording, const Options& options) {
  const StrategySpec& spec = options.run.strategies.front();
  const std::string& version = options.run.torch_version;
  watch_for_interrupt();
  Progress progress(true);
  std::vector<Trace> replays;
  std::optional<Recording> snapshot;
  for (const Trace* trace : traces_of(recording, options.input)) {
    if (trace->gpu < 0) {
      throw InputError(recording.path, "", "is of host memory; a PyTorch snapshot is of devices");
    }
    const Subject subject = Chosen{&recording, trace}.subject(progress);
    RecordedReplay replay =
        record_replay(subject, spec, {.device = options.run.device, .torch_version = version},
                      {.start = options.run.start,
                       .ignore_empty_cache = options.run.ignore_empty_cache,
                       .cancelled = &interrupted()});
    if (!replay.result.finished) return std::nullopt;
    if (const auto served = replay.result.metrics.recorded_ooms_served; served > 0) {
      fmt::print(stderr,
                 "memreplay: {}: served here, though the recorded program was refused: {} "
                 "request{}; each is in {} as a block freed at once\n",
                 recording.path, served, s_of(served), options.input.paths[1]);
    }
    replays.push_back(std::move(replay.trace));
    if (replays.size() == 1) snapshot = snapshot_of(subject, spec, version, {});
  }
  snapshot->traces = std::move(replays);
  return snapshot;
}

bool knows_all_settings(const RecordedSettings& settings) {
  using Severity = SettingIssue::Severity;
  // The recording shows its release from below only.
  return std::ranges::any_of(
      std::array{settings.oldest_release, std::string()}, [&](const std::string& release) {
        return std::ranges::none_of(
            lint_settings(settings.conf, release),
            [](const SettingIssue& issue) { return issue.severity == Severity::error; });
      });
}

/// What a snapshot may hold and a Recording does not.
void tell_of_what_is_left_out(const Recording& recording) {
  for (const Trace& trace : recording.traces) {
    for (const auto& [reason, count] : trace.coverage.dropped) {
      if (!reason.starts_with("pinned") && !reason.starts_with("entries with")) continue;
      fmt::print(stderr, "memreplay: {}: left out: {} {}\n", recording.path, count, reason);
    }
  }
}

Recording without_names(Recording recording) {
  const bool keep = knows_all_settings(recording.settings);
  if (!keep) {
    fmt::print(
        stderr,
        "memreplay: {}: its settings '{}' hold something else than known options; left out\n",
        recording.path, recording.settings.conf);
  }
  return anonymised(std::move(recording), {.keep_settings_text = keep});
}

}  // namespace

int run_convert(const Command& command, const std::vector<std::string>& arguments) {
  Options options;
  CommandLine line(command);
  add_input_options(line, options.input);
  add_strategy_options(line, options.run);
  add_simulated_device_options(line, options.run);
  add_start_options(line, options.run);
  add_minimise_options(line, options.minimise);
  line.flag("--anonymise",
            "Without texts, absolute times and addresses; replays stay equal. Default: off.",
            options.anonymise);
  line.parse(arguments);
  const auto& paths = options.input.paths;
  if (paths.size() != 2) {
    throw UsageError(fmt::format("{} names given; expected IN and OUT (memreplay convert IN OUT)",
                                 paths.size()));
  }
  const Target target = target_of(paths[1]);
  check(options, target);
  OutputFile out(paths[1]);

  if (target != Target::csv && options.run.strategies.empty() && !options.anonymise &&
      !options.minimise.wanted) {
    write_snapshot(out, paths[1], target, [&](ValueWriter& writer) {
      copy_recording(paths[0], options.input.read, writer);
    });
    return kDone;
  }
  Recording recording = read_recording(paths[0], options.input.read);
  if (options.minimise.wanted) {
    MinimisedRecording small = minimised(recording, only_trace(recording, options.input),
                                         options.minimise, options.run, paths[1]);
    recording = std::move(small.recording);
    options.run.strategies = {small.shown_by};
  }
  const bool replays = target != Target::csv && !options.run.strategies.empty();
  if (target != Target::csv && !replays && !is_torch(recording)) {
    throw UsageError(fmt::format(
        "{}: a recording of the format {} has no addresses; name the strategy that gives them (-s "
        "torch)",
        recording.path, recording.format));
  }
  tell_of_what_is_left_out(recording);
  if (replays) {
    auto snapshot = replayed(recording, options);
    if (!snapshot) return kInterrupted;
    recording = std::move(*snapshot);
  }
  if (options.anonymise) recording = without_names(std::move(recording));
  if (target == Target::csv) {
    out.stream() << write_csv(recording, only_trace(recording, options.input));
    out.commit();
    return interrupted() ? kInterrupted : kDone;
  }
  if (options.input.gpu) {
    std::erase_if(recording.traces,
                  [&](const Trace& trace) { return trace.gpu != *options.input.gpu; });
  }
  write_snapshot(out, paths[1], target,
                 [&](ValueWriter& writer) { write_torch_snapshot(recording, writer); });
  return kDone;
}

}  // namespace memreplay
