#include "extensions/workloads/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr Bytes kMostOfASize = Bytes{1} << 40;

std::vector<std::string> keys_of(const std::vector<OptionInfo>& options) {
  std::vector<std::string> keys;
  for (const OptionInfo& option : options) keys.emplace_back(option.key);
  return keys;
}

/// Takes what stands before the mark off the text.
std::string_view cut(std::string_view& text, char mark) {
  const std::string_view piece = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(piece.size() + 1, text.size()));
  return piece;
}

constexpr std::size_t kHandedOnAtOnce = 1 << 16;

const WorkloadInfo& workload_named(const std::string& name) {
  const auto found = std::ranges::find(workloads(), name, &WorkloadInfo::name);
  if (found != workloads().end()) return *found;
  std::vector<std::string> known;
  for (const WorkloadInfo& info : workloads()) known.emplace_back(info.name);
  throw UsageError("unknown workload '" + name + "'" + did_you_mean(name, known) +
                   " (memreplay list workloads)");
}

}  // namespace

#define MEMREPLAY_WORKLOAD(identifier, file) WorkloadInfo identifier##_workload();
#include "extensions/workloads/workloads.def"
#undef MEMREPLAY_WORKLOAD

std::span<const WorkloadInfo> workloads() {
  static const std::array kWorkloads = {
#define MEMREPLAY_WORKLOAD(identifier, file) identifier##_workload(),
#include "extensions/workloads/workloads.def"
#undef MEMREPLAY_WORKLOAD
  };
  return kWorkloads;
}

Recording generate(const std::string& workload, const WorkloadOptions& options,
                   const TakeEvents& take) {
  const std::size_t colon = std::min(workload.find(':'), workload.size());
  const WorkloadInfo& info = workload_named(workload.substr(0, colon));
  std::string given = workload.substr(std::min(colon + 1, workload.size()));
  if (!options.live.empty()) given += (given.empty() ? "live=" : ",live=") + options.live;
  const WorkloadValues values(info.name, info.options, given);
  Recording recording;
  recording.path = workload;
  recording.format = "generated";
  recording.detail = "generated: " + workload + ", seed " + std::to_string(options.seed);
  recording.texts.assign(info.texts.begin(), info.texts.end());
  if (recording.texts.empty()) recording.texts = {""};
  recording.stacks = {{}};
  Trace& trace = recording.traces.emplace_back();
  trace.lanes = {{}};
  trace.streams = {0};
  trace.pools = {{}};
  Draws draws(options.seed);
  WorkloadEvents events(options.events, !info.texts.empty(), take);
  info.run(values, draws, events);
  trace.slot_count = events.finish();
  return recording;
}

WorkloadValues::WorkloadValues(std::string_view workload, const std::vector<OptionInfo>& known,
                               std::string_view given)
    : workload_(workload), known_(known) {
  for (const OptionInfo& option : known) texts_.emplace_back(option.default_value);
  while (!given.empty()) {
    std::string_view value = cut(given, ',');
    const std::string_view key = cut(value, '=');
    const auto found = std::ranges::find(known, key, &OptionInfo::key);
    if (found == known.end()) {
      throw UsageError(fmt::format("workload {} has no option '{}'{} (memreplay list workloads {})",
                                   workload, key, did_you_mean(key, keys_of(known)), workload));
    }
    texts_[static_cast<std::size_t>(found - known.begin())] = value;
  }
}

const std::string& WorkloadValues::text(std::string_view key) const {
  const auto found = std::ranges::find(known_, key, &OptionInfo::key);
  return texts_.at(static_cast<std::size_t>(found - known_.begin()));
}

void WorkloadValues::bad(std::string_view key, std::string_view expected) const {
  throw UsageError(
      fmt::format("workload {}: {} is '{}'; expected {}", workload_, key, text(key), expected));
}

std::uint64_t WorkloadValues::whole(std::string_view key, std::uint64_t least,
                                    std::uint64_t most) const {
  const auto value = parse_whole(text(key));
  if (!value || *value < least || *value > most) {
    bad(key, fmt::format("a whole number of {} to {}", least, most));
  }
  return *value;
}

double WorkloadValues::number(std::string_view key, double least, double most) const {
  const std::string& given = text(key);
  double value = 0;
  const char* end = given.data() + given.size();
  const auto [stop, error] = std::from_chars(given.data(), end, value);
  const bool fits = value >= least && value <= most;  // false of what is no number
  if (error != std::errc{} || stop != end || !fits) {
    bad(key, fmt::format("a number of {} to {}", least, most));
  }
  return value;
}

Bytes WorkloadValues::size(std::string_view key) const {
  const auto value = parse_size(text(key));
  if (!value || *value == 0 || *value > kMostOfASize) bad(key, "a size of 1 byte to 1 TiB");
  return *value;
}

std::size_t WorkloadValues::choice(std::string_view key) const {
  const std::string_view choices = std::ranges::find(known_, key, &OptionInfo::key)->values;
  std::string_view rest = choices;
  for (std::size_t index = 0; !rest.empty(); ++index) {
    if (cut(rest, '|') == text(key)) return index;
  }
  bad(key, choices);
}

Slot WorkloadEvents::allocate(Bytes size, std::uint32_t tag) {
  Slot slot = static_cast<Slot>(sizes_.size());
  if (free_slots_.empty()) {
    sizes_.emplace_back();
    tags_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  sizes_[slot] = std::max<Bytes>(size, 1);
  tags_[slot] = tag;
  add(Op::allocate, slot, sizes_[slot], tag);
  return slot;
}

void WorkloadEvents::free(Slot slot) {
  free_slots_.push_back(slot);
  add(Op::free, slot, sizes_[slot], tags_[slot]);
}

Slot WorkloadEvents::finish() {
  if (!events_.ops.empty()) hand_on();
  return slots_;
}

void WorkloadEvents::add(Op op, Slot slot, Bytes size, std::uint32_t tag) {
  if (full()) return;
  --left_;
  if (slot != kNoSlot) slots_ = std::max(slots_, slot + 1);
  events_.ops.push_back(op);
  events_.slots.push_back(slot);
  events_.sizes.push_back(size);
  if (tagged_) events_.tags.push_back(tag);
  if (events_.ops.size() == kHandedOnAtOnce) hand_on();
}

void WorkloadEvents::hand_on() {
  events_.lane_of.resize(events_.ops.size());
  events_.align_log2.resize(events_.ops.size());
  take_(events_);
  events_ = {};
}

}  // namespace memreplay
