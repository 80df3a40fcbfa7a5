#include "run/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/host/host_memory.hpp"
#include "program/libraries.hpp"
#include "program/recorded_device.hpp"

namespace memreplay {
namespace {

/// Kept free where somebody looks at a screen that this card draws.
constexpr Bytes kForDisplay = 512 * kMiB;
/// One part in so many of the machine's memory is left to other programs.
constexpr Bytes kHostShareForOthers = 16;

Bytes usual_reserve(const RealMemoryFacts& facts) {
  if (facts.kind == "host") return facts.total / kHostShareForOthers;
  return facts.has_display ? kForDisplay : 0;
}

OpenDevice open(const DeviceChoice& choice, const Setup& setup) {
  OpenDevice device{.name = choice.text, .options = setup.simulated()};
  if (choice.kind == DeviceChoice::Kind::sim) return device;
  device.memory = choice.kind == DeviceChoice::Kind::cuda ? open_cuda_memory(choice.ordinal)
                                                          : open_host_memory();
  const RealMemoryFacts& facts = device.memory->facts();
  device.options.granularity = facts.granularity;
  if (!setup.reserve && !setup.capacity) device.options.reserve = usual_reserve(facts);
  return device;
}

DeviceSummary summary_of(const OpenDevice& device) {
  DeviceSummary summary = summarise(
      {device.options, device.options.capacity ? CapacityFrom::option : CapacityFrom::nobody});
  summary.text = device.name;
  if (!device.memory) return summary;
  const RealMemoryFacts& facts = device.memory->facts();
  summary.kind = facts.kind;
  summary.name = facts.name;
  summary.capacity = device.options.capacity.value_or(facts.total);
  summary.address_policy = "upward";
  return summary;
}

// The first option given that shapes a simulated device; null: none.
const char* shaping_option(const Setup& setup) {
  if (setup.granularity) return "--granularity";
  if (setup.address_policy) return "--address-policy";
  if (setup.address_gap) return "--address-gap";
  return setup.address_space ? "--address-space" : nullptr;
}

void check(const Setup& setup) {
  const auto real = [](const DeviceChoice& choice) {
    return choice.kind != DeviceChoice::Kind::sim;
  };
  const bool any_real = std::ranges::any_of(setup.devices, real);
  if (!any_real && setup.touch) {
    throw UsageError("--touch needs real memory; add --device host or cuda");
  }
  if (any_real && !setup.tenants.empty()) {
    throw UsageError("--other-tenant is for a simulated device; a real one has its own");
  }
  if (setup.devices.empty() || !std::ranges::all_of(setup.devices, real)) return;
  if (const char* option = shaping_option(setup)) {
    throw UsageError(fmt::format("{} is for a simulated device; a real one has its own", option));
  }
}

}  // namespace

LikeRecorded Setup::like_recorded() const {
  if (granularity || address_policy || address_gap || address_space) return LikeRecorded::nothing;
  const bool asked = capacity || endless || reserve || !tenants.empty();
  return asked ? LikeRecorded::addresses : LikeRecorded::addresses_and_refusals;
}

SimulatedDeviceOptions Setup::simulated() const {
  const SimulatedDeviceOptions usual;
  if (capacity == Bytes{0}) throw UsageError("--capacity is 0; expected the memory of a device");
  if (capacity && reserve && *reserve >= *capacity) {
    throw UsageError(fmt::format("--reserve {} leaves nothing of the device's {}; expected less",
                                 exact_size(*reserve), exact_size(*capacity)));
  }
  return {.capacity = capacity,
          .reserve = reserve.value_or(usual.reserve),
          .granularity = granularity.value_or(usual.granularity),
          .policy = address_policy.value_or(AddressPolicy::automatic),
          .address_gap = address_gap.value_or(usual.address_gap),
          .address_space = address_space,
          .like_recorded = like_recorded(),
          .tenants = tenants};
}

SizedDevice sized_for(const Subject& subject, const Setup& setup) {
  SizedDevice device{setup.simulated()};
  if (subject.recording().format == kPinnedHostFormat && !setup.granularity) {
    device.options.granularity = 1;  // charged as PyTorch counts it
  }
  if (!setup.address_policy) {
    device.options.policy = subject.order().value_or(AddressPolicy::automatic);
  }
  if (setup.capacity) {
    device.from = CapacityFrom::option;
  } else if (const auto room = setup.endless ? std::nullopt : recorded_room(subject)) {
    device.options.capacity = room->bytes + device.options.reserve;
    device.from = room->stated ? CapacityFrom::recorded_oom : CapacityFrom::recorded_retries;
    if (room->stated && !subject.shared()) {
      const CardTraits traits = card_traits(subject.recording(), subject.trace());
      device.set_aside = set_aside_beside(room->bytes, traits);
    }
  } else if (!setup.tenants.empty()) {
    throw UsageError("--other-tenant needs a device with a limit; add --capacity SIZE");
  }
  device.unknown_size = device.from == CapacityFrom::nobody && !setup.endless;
  return device;
}

DeviceSummary summarise(const SizedDevice& device) {
  DeviceSummary summary;
  summary.capacity = device.options.capacity;
  summary.capacity_from = device.from;
  summary.reserve = device.options.reserve;
  summary.set_aside = device.set_aside;
  summary.tenants = device.options.tenants;
  summary.granularity = device.options.granularity;
  summary.address_policy = name_of(device.options.policy);
  return summary;
}

OpenDevice simulated(const SizedDevice& device) {
  OpenDevice open{.options = device.options, .unknown_size = device.unknown_size};
  open.summary = summarise(device);
  return open;
}

std::vector<OpenDevice> devices_for(const Subject& subject, std::span<const OpenDevice> opened,
                                    const Setup& setup) {
  std::vector<OpenDevice> devices(opened.begin(), opened.end());
  const auto is_real = [](const OpenDevice& device) { return device.memory != nullptr; };
  if (std::ranges::any_of(devices, is_real)) return devices;
  const SizedDevice sized = sized_for(subject, setup);
  for (OpenDevice& device : devices) {
    device.options.capacity = sized.options.capacity;
    device.options.granularity = device.summary.granularity = sized.options.granularity;
    device.options.policy = sized.options.policy;
    device.summary.address_policy = name_of(sized.options.policy);
    device.summary.capacity = sized.options.capacity;
    device.summary.capacity_from = sized.from;
    device.summary.set_aside = sized.set_aside;
    device.unknown_size = sized.unknown_size;
  }
  return devices;
}

std::optional<Bytes> OpenDevice::room() const {
  if (memory && !options.capacity) {
    const Bytes free = memory->free_bytes();
    return free - std::min(free, options.reserve);
  }
  return options.room();
}

Touch touch_of(const OpenDevice& device, const Setup& setup) {
  if (!device.memory) return Touch::none;
  // A program on the host writes to its blocks; without that they would have no memory.
  return setup.touch.value_or(device.memory->facts().pages_when_touched ? Touch::edges
                                                                        : Touch::none);
}

std::vector<OpenDevice> open_devices(const Setup& setup, std::span<const StrategySpec> strategies) {
  check(setup);
  for (const StrategySpec& spec : strategies) {
    if (const auto check_here = strategy_info(spec.name).check_here) check_here(spec);
  }
  std::vector<OpenDevice> devices;
  for (const DeviceChoice& choice : setup.devices) devices.push_back(open(choice, setup));
  if (devices.empty()) devices.push_back(open({}, setup));
  const auto real = std::ranges::find_if(
      devices, [](const OpenDevice& device) { return device.memory != nullptr; });
  for (OpenDevice& device : devices) {
    if (!device.memory && real != devices.end()) {
      // It is to hold what the real one holds, not what the recorded one held.
      device.options.like_recorded = LikeRecorded::nothing;
      if (!setup.granularity) device.options.granularity = real->options.granularity;
    }
    device.summary = summary_of(device);
    device.timed = real != devices.end();
  }
  return devices;
}

}  // namespace memreplay
