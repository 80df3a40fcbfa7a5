#include "analysis/convert/recorded_replay.hpp"

#include <utility>

#include "analysis/convert/replay_recorder.hpp"
#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {
namespace {

/// As the environment variable has it.
std::string conf_of(const StrategySpec& spec) {
  if (const auto whole = find_option(spec, torch::kConfOption)) return std::string(*whole);
  std::string conf;
  for (const auto& [key, value] : spec.options) {
    if (key == "version") continue;
    conf += (conf.empty() ? "" : ",") + key + ":" + value;
  }
  return conf;
}

RecordedSettings settings_of_run(const Subject& subject, const StrategySpec& spec) {
  const auto model = subject.model_of(spec);
  if (!model) return {};
  if (spec.name == "recorded") {
    RecordedSettings settings = *subject.settings();
    if (!spec.release.empty()) settings.oldest_release = model->release.text();
    return settings;
  }
  const torch::Settings& run = model->settings;
  return {.present = true,
          .conf = conf_of(spec),
          .conf_variable = "PYTORCH_CUDA_ALLOC_CONF",
          .max_split_size = run.max_split_size == torch::kUnlimited
                                ? -1
                                : static_cast<std::int64_t>(run.max_split_size),
          .garbage_collection_threshold = run.garbage_collection_threshold,
          .expandable_segments = run.expandable_segments,
          .roundup_power2_divisions = run.roundup_power2_divisions,
          .request_padding = run.request_padding,
          .oldest_release = model->release.text()};
}

}  // namespace

RecordedReplay record_replay(const Subject& subject, const StrategySpec& spec, TrialOptions options,
                             ReplayOptions replaying) {
  options.log_device = true;
  const auto model = subject.model_of(spec);
  const auto charged = [&model](Bytes size) {
    if (!model) return size;
    const Bytes padding = model->settings.request_padding;
    return torch::round_size(size + padding, model->settings.roundup_power2_divisions) - padding;
  };
  Trial trial(subject, spec, options, plan_for(subject, spec, replaying.program));
  ReplayRecorder recorder(subject.trace(), trial, charged,
                          replaying.program.start == StartMode::cold);
  replaying.watcher = &recorder;
  ReplayResult result = trial.run(replaying);
  return {recorder.finish(), std::move(result)};
}

Recording snapshot_of(const Subject& subject, const StrategySpec& spec,
                      std::vector<Trace> replays) {
  const Recording& source = subject.recording();
  Recording recording;
  recording.path = source.path;
  recording.format = kTorchPickleFormat;
  recording.traces = std::move(replays);
  recording.settings = settings_of_run(subject, spec);
  recording.annotations = source.annotations;
  recording.texts = source.texts;
  recording.frames = source.frames;
  recording.stacks = source.stacks;
  return recording;
}

}  // namespace memreplay
