#include <fmt/format.h>

#include <utility>

#include "core/text.hpp"
#include "extensions/minimise/minimise.hpp"
#include "questions/convert/minimised.hpp"
#include "questions/settings/setting.hpp"
#include "run/run.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

// The result has no settings of the allocator that recorded it.
StrategySpec plainly(const StrategySpec& spec, const Recording& recording) {
  if (spec.name != "recorded") return spec;
  return torch_spec_from_conf(
      conf_of(torch::entries_read(recording.settings.conf, torch::kNewestRelease)));
}

/// What shows it: the strategy with what it depends on.
std::vector<std::string> arguments_of(const StrategySpec& spec, const ReplayOptions& options) {
  const SimulatedDeviceOptions& device = options.device;
  const SimulatedDeviceOptions usual;
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, std::string value) {
    arguments.emplace_back(option);
    arguments.push_back(std::move(value));
  };
  const bool conf = !spec.options.empty() && spec.options.front().first == torch::kConfOption;
  conf ? add("--alloc-conf", spec.options.front().second) : add("-s", spec.text);
  if (!spec.release.empty()) add("--torch-version", spec.release);
  if (device.capacity) add("--capacity", size_argument(*device.capacity));
  if (device.reserve != usual.reserve) add("--reserve", size_argument(device.reserve));
  if (device.granularity != usual.granularity) {
    add("--granularity", size_argument(device.granularity));
  }
  if (device.policy != AddressPolicy::automatic) {
    add("--address-policy", std::string(name_of(device.policy)));
  }
  if (device.address_gap != usual.address_gap) {
    add("--address-gap", size_argument(device.address_gap));
  }
  if (device.address_space) add("--address-space", size_argument(*device.address_space));
  if (options.uses != ReplayOptions().uses) add("--uses", std::to_string(options.uses));
  return arguments;
}

Recording recording_of(Trace trace, const Recording& origin) {
  Recording recording{.path = origin.path,
                      .format = "csv",
                      .detail = "minimised",
                      .traces = {},
                      .settings = {},
                      .annotations = {},
                      .texts = origin.texts,
                      .frames = origin.frames,
                      .stacks = origin.stacks};
  recording.traces.push_back(std::move(trace));
  return recording;
}

}  // namespace

MinimisedRecording minimised(const Recording& recording, const Trace& trace,
                             const StrategySpec& spec, const Setup& setup,
                             const MinimiseQuestion& question, const Control& control) {
  const Subject subject(recording, trace);
  const OpenDevice device = simulated(sized_for(subject, setup));
  MinimiseOptions options{
      .replaying = on_device(replay_options(trace, setup, control), device, setup),
      .keep = question.keep,
      .budget = question.budget};
  const StrategySpec by_rules = subject.with_release(spec);
  options.trying = [&](std::uint64_t events) {
    const double left = static_cast<double>(events) / static_cast<double>(trace.size());
    control.show(
        fmt::format("minimising: {} event{} left", human_count(events), events == 1 ? "" : "s"),
        1 - left);
  };
  const StrategySpec plain = under_release(plainly(spec, recording), by_rules.release);
  Minimised small = minimise(subject, by_rules, plain, options);
  small.summary.arguments = arguments_of(plain, options.replaying);
  return {recording_of(std::move(small.trace), recording), plain, std::move(small.summary)};
}

}  // namespace memreplay
