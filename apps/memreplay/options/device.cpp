#include "options/device.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/host/host_memory.hpp"
#include "device/host/malloc_library.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

/// Kept free where somebody looks at a screen that this card draws.
constexpr Bytes kForDisplay = 512 * kMiB;
/// Of the machine's memory, for the rest of it.
constexpr Bytes kHostShareForOthers = 16;

Bytes usual_reserve(const RealMemoryFacts& facts) {
  if (facts.kind == "host") return facts.total / kHostShareForOthers;
  return facts.has_display ? kForDisplay : 0;
}

OpenDevice open(const DeviceChoice& choice, const RunOptions& options) {
  OpenDevice device{.name = choice.text, .options = options.device};
  if (choice.kind == DeviceChoice::Kind::sim) return device;
  device.memory = choice.kind == DeviceChoice::Kind::cuda ? open_cuda_memory(choice.ordinal)
                                                          : open_host_memory();
  const RealMemoryFacts& facts = device.memory->facts();
  device.options.granularity = facts.granularity;
  const bool room_is_asked_for = options.reserve_given || options.device.capacity.has_value();
  if (!room_is_asked_for) device.options.reserve = usual_reserve(facts);
  return device;
}

DeviceSummary summary_of(const OpenDevice& device) {
  DeviceSummary summary = summarise(device.options);
  summary.text = device.name;
  if (!device.memory) return summary;
  const RealMemoryFacts& facts = device.memory->facts();
  summary.kind = facts.kind;
  summary.name = facts.name;
  summary.capacity = device.options.capacity.value_or(facts.total);
  summary.address_policy = "upward";
  return summary;
}

void check(const RunOptions& options) {
  const auto real = [](const DeviceChoice& choice) {
    return choice.kind != DeviceChoice::Kind::sim;
  };
  const bool any_real = std::ranges::any_of(options.devices, real);
  if (!any_real && options.touch) {
    throw UsageError("--touch: there is nothing to touch on a simulated device; add --device host");
  }
  if (options.devices.empty() || !std::ranges::all_of(options.devices, real)) return;
  if (options.shape_given) {
    throw UsageError(
        fmt::format("{} is for a simulated device; a real one has its own", *options.shape_given));
  }
}

// Before anything is read: a library may ask for another start of the program.
void check_libraries(const std::vector<StrategySpec>& strategies) {
  for (const StrategySpec& spec : strategies) {
    if (spec.name != "malloc") continue;
    if (const auto library = find_option(spec, "lib")) check_malloc_library(std::string(*library));
  }
}

}  // namespace

DeviceChoice device_argument(const std::string& text) {
  using Kind = DeviceChoice::Kind;
  if (text == "sim") return {Kind::sim, 0, text};
  if (text == "host") return {Kind::host, 0, text};
  if (text == "cuda") return {Kind::cuda, 0, text};
  constexpr std::string_view kCard = "cuda:";
  if (text.starts_with(kCard)) {
    const auto number = parse_whole(std::string_view(text).substr(kCard.size()));
    if (number && *number < 1024) return {Kind::cuda, static_cast<int>(*number), text};
  }
  const std::vector<std::string> known = {"sim", "host", "cuda"};
  throw UsageError(fmt::format("--device is '{}'; expected sim, host, cuda or cuda:N{}", text,
                               did_you_mean(text, known)));
}

std::optional<Bytes> OpenDevice::room() const {
  if (memory && !options.capacity) {
    const Bytes free = memory->free_bytes();
    return free - std::min(free, options.reserve);
  }
  return options.room();
}

Touch touch_of(const OpenDevice& device, const RunOptions& options) {
  if (!device.memory) return Touch::none;
  // A program on the host writes to its blocks; without that there would be no memory behind them.
  return options.touch.value_or(device.memory->facts().pages_when_touched ? Touch::edges
                                                                          : Touch::none);
}

std::vector<OpenDevice> open_devices(const RunOptions& options) {
  check(options);
  check_libraries(options.strategies);
  std::vector<OpenDevice> devices;
  for (const DeviceChoice& choice : options.devices) devices.push_back(open(choice, options));
  if (devices.empty()) devices.push_back(open({}, options));
  const auto real = std::ranges::find_if(
      devices, [](const OpenDevice& device) { return device.memory != nullptr; });
  for (OpenDevice& device : devices) {
    if (!device.memory && real != devices.end() && !options.granularity_given) {
      device.options.granularity = real->options.granularity;
    }
    device.summary = summary_of(device);
    device.timed = real != devices.end();
  }
  return devices;
}

}  // namespace memreplay
