#include "commands/minimise.hpp"

#include <fmt/format.h>

#include <iostream>

#include "core/error.hpp"
#include "core/text.hpp"
#include "output/output_file.hpp"
#include "output/terminal.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/table.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

// As a shell takes it for one word.
std::string word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

std::string unit_free(std::string size) {
  std::erase(size, ' ');
  return size;
}

/// What shows it: the strategy with what it depends on.
std::string shown_by(const StrategySpec& spec, const TrialOptions& trial,
                     const std::string& target) {
  const SimulatedDeviceOptions& device = trial.device;
  const SimulatedDeviceOptions usual;
  std::string line = "memreplay replay " + word(target == "-" ? "OUT.csv" : target);
  const bool conf = !spec.options.empty() && spec.options.front().first == torch::kConfOption;
  line += conf ? " --alloc-conf " + word(spec.options.front().second) : " -s " + word(spec.text);
  const auto add = [&](std::string_view option, Bytes size) {
    line += fmt::format(" {} {}", option, unit_free(exact_size(size)));
  };
  if (!trial.torch_version.empty()) line += " --torch-version " + trial.torch_version;
  if (device.capacity) add("--capacity", *device.capacity);
  if (device.reserve != usual.reserve) add("--reserve", device.reserve);
  if (device.granularity != usual.granularity) add("--granularity", device.granularity);
  if (device.policy != usual.policy) line += " --address-policy first-fit";
  if (device.address_gap != usual.address_gap) add("--address-gap", device.address_gap);
  if (trial.uses != TrialOptions().uses) line += fmt::format(" --uses {}", trial.uses);
  return line;
}

std::string what_is_kept(const Minimised& small, const std::string& strategy) {
  const RunMetrics& m = small.after;
  if (small.kept == Kept::gap) {
    return fmt::format("{} reserves {} where it charges {} ({} and {} before)", strategy,
                       human_size(m.peak_reserved), human_size(m.peak_allocated),
                       human_size(small.before.peak_reserved),
                       human_size(small.before.peak_allocated));
  }
  const std::string why = small.kept == Kept::shortage        ? "shortage"
                          : small.kept == Kept::fragmentation ? "fragmentation"
                                                              : "it may not use what is free";
  return fmt::format("{} is refused the same {} with {} free, {} in one piece: {}", strategy,
                     exact_size(m.first_oom->requested), human_size(m.first_oom->free),
                     human_size(m.first_oom->largest_free), why);
}

// What the recording tells and a trace of requests and frees cannot.
std::string left_out(const Minimised& small) {
  if (small.pool_ends + small.unfinished_frees == 0) return {};
  return fmt::format(" Left out: {} of private pools, {} never completed.",
                     counted(small.pool_ends, "end"), counted(small.unfinished_frees, "free"));
}

std::string sentence(const Minimised& small, const StrategySpec& spec, const std::string& command) {
  const std::string end = small.finished ? "" : " It was ended early and could be smaller.";
  return wrapped(fmt::format("{} become {}: {}. {} made.{}", counted(small.events_before, "event"),
                             human_count(small.trace.size()), what_is_kept(small, spec.text),
                             counted(small.replays, "replay"), end + left_out(small)),
                 0) +
         '\n' + command + '\n';
}

// The result has no settings of the allocator that recorded it.
StrategySpec plainly(const StrategySpec& spec, const Recording& recording) {
  return spec.name == "recorded" ? torch_spec_from_conf(recording.settings.conf) : spec;
}

StrategySpec strategy_of(const Recording& recording, const RunOptions& run) {
  if (run.strategies.size() > 1) throw UsageError("--minimise: for one strategy; several given");
  return run.strategies.empty() ? usual_strategy(recording) : run.strategies.front();
}

}  // namespace

void add_minimise_options(CommandLine& line, MinimiseAsked& asked) {
  line.flag("--minimise", "A small trace that shows the same under -s. Default: off.",
            asked.wanted);
  line.value(
      "--keep", "oom|gap",
      "What that shows: the first OOM, or reserved above allocated. Default: an OOM, if any.",
      [&asked](const std::string& text) {
        const bool oom = choice_argument("--keep", text, {"oom", "gap"}) == 0;
        asked.keep = oom ? Keep::oom : Keep::gap;
      });
  line.value(
      "--budget", "N", "Events that it may replay. Default: 400000000.",
      [&asked](const std::string& text) { asked.budget = whole_argument("--budget", text); });
}

void refuse_without_minimise(const MinimiseAsked& asked) {
  const MinimiseAsked usual;
  if (asked.wanted || (asked.keep == usual.keep && asked.budget == usual.budget)) return;
  throw UsageError("--keep and --budget are for --minimise; expected it with them");
}

MinimisedRecording minimised(const Recording& recording, const Trace& trace,
                             const MinimiseAsked& asked, const RunOptions& run,
                             const std::string& target) {
  watch_for_interrupt();
  Progress progress(false);
  const StrategySpec spec = strategy_of(recording, run);
  const Subject subject(recording, trace);
  MinimiseOptions options;
  options.trial = {.device = run.device,
                   .torch_version = subject.version_for(spec, run.torch_version),
                   .uses = run.uses};
  options.replaying.start = run.start;
  options.replaying.ignore_empty_cache = run.ignore_empty_cache;
  options.replaying.cancelled = &interrupted();
  options.keep = asked.keep;
  options.budget = asked.budget;
  options.trying = [&](std::uint64_t events) {
    const double left = static_cast<double>(events) / static_cast<double>(trace.size());
    progress.show(fmt::format("minimising: {} left", counted(events, "event")), 1 - left);
  };
  const StrategySpec plain = plainly(spec, recording);
  Minimised small = minimise(subject, spec, plain, options);
  progress.clear();
  const std::string said = sentence(small, plain, shown_by(plain, options.trial, target));
  if (target == "-") {
    std::cerr << said;
  } else {
    write_stdout(said);
  }
  Recording result{.path = recording.path,
                   .format = "csv",
                   .detail = "minimised",
                   .traces = {},
                   .settings = {},
                   .annotations = {},
                   .texts = recording.texts,
                   .frames = recording.frames,
                   .stacks = recording.stacks};
  result.traces.push_back(std::move(small.trace));
  return {std::move(result), plain};
}

}  // namespace memreplay
