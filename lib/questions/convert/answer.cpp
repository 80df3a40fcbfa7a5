#include "questions/convert/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"
#include "program/devices.hpp"
#include "questions/convert/minimised.hpp"
#include "questions/convert/replay_recorder.hpp"
#include "run/run.hpp"
#include "strategy/torch/lint.hpp"
#include "trace/anonymise.hpp"

namespace memreplay {
namespace {

std::vector<const Trace*> traces_of(const Recording& recording, std::optional<int> gpu) {
  auto traces = chosen_traces(recording, gpu);
  if (traces.empty()) throw InputError(recording.path, "", "has no events; nothing to convert");
  return traces;
}

const Trace& only_trace(const Recording& recording, std::optional<int> gpu) {
  const auto traces = traces_of(recording, gpu);
  if (traces.size() == 1) return *traces.front();
  std::string gpus;
  for (const Trace* trace : traces) {
    gpus += fmt::format("{}{}", gpus.empty() ? "" : ", ", trace->gpu);
  }
  throw UsageError(
      fmt::format("{}: has events of gpu {}; choose one with --gpu N", recording.path, gpus));
}

/// The file holds one replay from the recorded start; where that leaves the figures open, those of
/// the program itself are estimates.
Run judge(const Contender& contender, const OpenDevice& device, const Setup& setup,
          const Control& control, ReplayResult result) {
  const Subject& subject = contender.subject();
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  return judged(contender, device, setup, late, std::move(result));
}

/// Replays the chosen devices; empty after an interruption.
std::optional<Recording> replayed(const Recording& recording, const StrategySpec& spec,
                                  const std::shared_ptr<const MadeRecordings>& made,
                                  const ConvertQuestion& question, const Control& control,
                                  std::vector<Run>& runs) {
  const Setup& setup = question.setup;
  std::vector<Trace> replays;
  std::optional<Recording> snapshot;
  for (const Trace* trace : traces_of(recording, question.input.gpu)) {
    if (trace->gpu < 0) {
      throw InputError(recording.path, "", "is of host memory; a PyTorch snapshot is of devices");
    }
    const Subject subject = Chosen{&recording, trace, made}.subject(control);
    const OpenDevice device = simulated(sized_for(subject, setup));
    const ReplayOptions replaying =
        on_device(replay_options(*trace, setup, control), device, setup);
    const Contender contender(subject, spec, replaying.program);
    RecordedReplay replay = record_replay(contender, replaying);
    if (!replay.result.finished) return std::nullopt;
    runs.push_back(judge(contender, device, setup, control, std::move(replay.result)));
    if (control.stopped()) return std::nullopt;
    replays.push_back(std::move(replay.trace));
    if (replays.size() == 1) snapshot = snapshot_of(contender, {});
  }
  snapshot->traces = std::move(replays);
  return snapshot;
}

bool knows_all_settings(const RecordedSettings& settings) {
  // The recording shows its release from below only.
  return std::ranges::any_of(std::array{settings.oldest_release, std::string()},
                             [&](const std::string& release) {
                               return first_error(lint_settings(settings.conf, release)) == nullptr;
                             });
}

std::vector<ConvertAnswer::LeftOut> left_out_of(const Recording& recording) {
  std::vector<ConvertAnswer::LeftOut> left_out;
  for (const Trace& trace : recording.traces) {
    for (const auto& [reason, count] : trace.coverage.dropped) {
      if (reason.starts_with("pinned") || reason.starts_with("entries with")) {
        left_out.push_back({reason, count});
      }
    }
  }
  return left_out;
}

void keep_chosen(Recording& recording, const ConvertQuestion& question) {
  if (question.one_device) {
    const auto index = &only_trace(recording, question.input.gpu) - recording.traces.data();
    Trace only = std::move(recording.traces[static_cast<std::size_t>(index)]);
    recording.traces.clear();
    recording.traces.push_back(std::move(only));
  } else if (const auto gpu = question.input.gpu) {
    std::erase_if(recording.traces, [&](const Trace& trace) { return trace.gpu != *gpu; });
  }
}

Recording without_names(Recording recording, ConvertAnswer& answer) {
  const bool keep = knows_all_settings(recording.settings);
  if (!keep) answer.unknown_settings = recording.settings.conf;
  return anonymised(std::move(recording), {.keep_settings_text = keep});
}

}  // namespace

ConvertAnswer answer(const ConvertQuestion& question, const Control& control) {
  const Control quietly{.stop = control.stop};
  Recording recording = read_recording(question.input.paths.front(), question.input.read);
  ConvertAnswer answer{.path = recording.path};
  std::optional<StrategySpec> strategy = question.strategy;
  if (strategy) strategy = under_release(*strategy, question.setup.release);
  std::shared_ptr<const MadeRecordings> made;
  if (!question.input.edits.empty()) {
    const Trace& trace = only_trace(recording, question.input.gpu);
    made = std::make_shared<const MadeRecordings>(
        edited(Subject(recording, trace), question.input.edits));
    recording = made->likeliest.recording;
  }
  if (question.minimise) {
    if (!strategy) {
      strategy = under_release(usual_strategy(recording), question.setup.release);
    }
    MinimisedRecording small = minimised(recording, only_trace(recording, question.input.gpu),
                                         *strategy, question.setup, *question.minimise, control);
    recording = std::move(small.recording);
    strategy = small.shown_by;
    answer.minimised = std::move(small.answer);
  }
  const bool replays = question.with_addresses && strategy;
  if (question.with_addresses && !replays && (made || !is_torch(recording))) {
    throw UsageError(fmt::format(
        "{}: {} has no addresses; choose a strategy that makes them (-s torch)", recording.path,
        made ? "an edited recording" : "a recording of the format " + recording.format));
  }
  answer.left_out = left_out_of(recording);
  if (replays) {
    auto snapshot = replayed(recording, *strategy, made, question, quietly, answer.runs);
    answer.interrupted = !snapshot;
    if (!snapshot) return answer;
    recording = std::move(*snapshot);
  }
  keep_chosen(recording, question);
  if (question.anonymise) recording = without_names(std::move(recording), answer);
  answer.recording = std::make_shared<const Recording>(std::move(recording));
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
