#include "strategy/torch/torch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "strategy/torch/allocator.hpp"

namespace memreplay {
namespace {

torch::Settings settings_of_options(const StrategySpec& spec, const torch::Release& release,
                                    torch::SettingIssues& issues) {
  const std::vector<torch::ConfEntry> entries = torch::entries_of_options(spec, release, issues);
  return torch::read_settings(entries, release, issues);
}

torch::Release release_of(const StrategySpec& spec) {
  return torch::parse_release(find_option(spec, "version").value_or(spec.release));
}

TorchModel model_of_options(const StrategySpec& spec, const RecordedSettings* recorded) {
  const torch::Release release = release_of(spec);
  torch::SettingIssues issues;
  torch::Settings settings = settings_of_options(spec, release, issues);
  if (const torch::SettingIssue* error = first_error(issues)) {
    throw UsageError(fmt::format("{}: {}", spec.text, error->text));
  }
  // What the recorded program ran on pads and aligns its requests whatever the settings.
  if (recorded != nullptr) {
    const torch::Settings own = torch::settings_of(*recorded, release);
    settings.request_padding = own.request_padding;
    settings.large_alignment = own.large_alignment;
  }
  return {settings, release};
}

TorchModel model_of_recording(const StrategySpec& spec, const RecordedSettings* recorded) {
  if (recorded == nullptr) {
    throw UsageError(
        "'recorded' needs a recording that carries PyTorch's settings; name a strategy with -s");
  }
  const torch::Release release = release_of(spec);
  return {torch::settings_of(*recorded, release), release};
}

}  // namespace

std::vector<torch::ConfEntry> torch::entries_of_options(const StrategySpec& spec,
                                                        const Release& release,
                                                        SettingIssues& issues) {
  std::vector<ConfEntry> entries;
  for (const auto& [key, value] : spec.options) {
    if (key == kConfOption) {
      entries = split_conf(value, release, issues);
    } else if (key != "version") {
      entries.push_back({key, value});
    }
  }
  return entries;
}

std::optional<torch::Release> torch::release_that_reads(const StrategySpec& spec,
                                                        const Release& from) {
  if (spec.name == "recorded") return from;
  if (spec.name == "torch") {
    for (Release release = from; release <= kNewestRelease;
         release = {release.major, release.minor + 1, 0}) {
      SettingIssues issues;
      settings_of_options(spec, release, issues);
      if (first_error(issues) == nullptr) return release;
    }
    return from;
  }
  std::optional<Release> latest;
  for (const StrategySpec& inner : spec.inner) {
    latest = std::max(latest, release_that_reads(inner, from));
  }
  return latest;
}

std::unique_ptr<Strategy> make_torch(const StrategySpec& spec, const StrategyContext& context) {
  const auto model = torch_model(spec, context.recorded);
  return torch::make_allocator(model->settings, model->release, context);
}

std::optional<TorchModel> torch_model(const StrategySpec& spec, const RecordedSettings* recorded) {
  if (spec.name == "recorded") return model_of_recording(spec, recorded);
  if (spec.name == "torch") return model_of_options(spec, recorded);
  return std::nullopt;
}

StrategyInfo torch_strategy() {
  return {
      .name = "torch",
      .summary = "PyTorch's native CUDA caching allocator; torch@2.9 uses the rules of 2.9.",
      .options =
          {
              {"version", "X.Y.Z", "the recording's",
               "the release whose rules hold; torch@2.9 is short for torch:version=2.9"},
              {"max_split_size_mb", "MIB", "no limit",
               "free blocks from this size on are not split"},
              {"max_non_split_rounding_mb", "MIB", "20",
               "how much larger such a block may be than the request"},
              {"large_segment_size_mb", "MIB", "20", "segments for requests between 1 and 10 MiB"},
              {"roundup_power2_divisions", "N|[SIZE:N,…,>:N]", "off",
               "rounds requests to N steps between powers of two"},
              {"garbage_collection_threshold", "0..1", "off",
               "share of the memory limit above which old blocks are freed"},
              {"expandable_segments", "True|False", "False",
               "maps memory piecewise into long address ranges"},
              {"expandable_segments_reserve", "FRACTION|NG", "9/8 of the device",
               "length of such a range"},
              {"expandable_segments_reserve_by_class", "[CLASS:RESERVE,…]", "none",
               "no effect: a recording knows no classes"},
              {"per_process_memory_fraction", "0..1", "1", "memory limit as a share of the device"},
              {"throw_on_cudamalloc_oom", "True|False", "False",
               "rejects what cannot fit before asking the device"},
              {"release_lock_on_cudamalloc", "True|False", "False", "no effect on placement"},
              {"graph_capture_record_stream_reuse", "True|False", "False",
               "follows the recorded frees"},
              {"pinned_use_cuda_host_register", "True|False", "False", "host memory only"},
              {"pinned_num_register_threads", "N", "1", "host memory only"},
              {"pinned_use_background_threads", "True|False", "False", "host memory only"},
              {"pinned_reserve_segment_size_mb", "MIB", "0", "host memory only"},
              {"pinned_free_catch_all", "True|False", "False", "host memory only"},
              {"pinned_max_round_threshold_mb", "MIB", "no limit", "host memory only"},
              {"pinned_max_cached_size_mb", "MIB", "no limit", "host memory only"},
              {"backend", "native", "native", "cudaMallocAsync is refused"},
          },
      .make = make_torch,
      .at = "version",
      .known_as = {{"pytorch"}, {"caching"}, {"cachingallocator"}, {"cudacachingallocator"}},
      .presets = {{"", 1}, {"expandable_segments=True", 1}}};
}

}  // namespace memreplay
