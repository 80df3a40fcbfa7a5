#include "extensions/xla/xla_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.hpp"
#include "extensions/heaps/live_heap.hpp"
#include "extensions/lifetimes/buffer_lifetimes.hpp"
#include "trace/pointer_log.hpp"
#include "trace/text_numbers.hpp"

namespace memreplay {
namespace {

constexpr int kDevice = 0;

Bytes height_of(const std::vector<StatedBuffer>& places) {
  Bytes height = 0;
  for (const StatedBuffer& place : places) {
    height = std::max(height, place.planned.value_or(0) + place.size);
  }
  return height;
}

}  // namespace

void put_in_order(std::vector<StatedBuffer>& places) {
  Bytes lowest = UINT64_MAX;
  for (const StatedBuffer& place : places) {
    lowest = std::min(lowest, place.planned.value_or(UINT64_MAX));
  }
  std::map<std::string, std::uint64_t> seen;
  for (StatedBuffer& place : places) {
    if (place.planned) *place.planned -= lowest;
    std::ranges::replace_if(
        place.name, [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; }, '_');
    if (place.name.empty()) place.name = "value";
    if (const std::uint64_t times = seen[place.name]++) place.name += fmt::format("#{}", times + 1);
  }
}

Recording recording_of(XlaPlan plan, const Input& input, std::string format) {
  Recording recording = recording_of_log(input, std::move(format), {});
  recording.detail = fmt::format("XLA's plan{}{}: {} in {} places; its temporary allocation has {}",
                                 plan.module.empty() ? "" : " of ", plan.module,
                                 human_size(height_of(plan.places)),
                                 human_count(plan.places.size()), human_size(plan.total));
  recording.lacks = std::move(plan.lacks);
  recording.lacks.emplace_back("times (only the order of events is kept)");
  if (plan.places.empty()) {
    LiveHeap heap(recording);
    heap.add(kDevice, plan.total, 1, 0);
    heap.finish(kDevice);
  } else {
    TextNumbers texts(recording.texts);
    BufferLifetimes lifetimes;
    TraceBuilder builder(kDevice);
    EventOutlet outlet(input.name, {});
    for (const StatedBuffer& place : plan.places) {
      lifetimes.add(place.lower, place.upper,
                    {.size = place.size,
                     .id = lifetimes.buffers().size(),
                     .tag = texts.number_of(place.name)});
    }
    lifetimes.add_to(builder, outlet);
    recording.traces.push_back(builder.finish());
    Coverage& coverage = recording.traces.back().coverage;
    for (const StatedBuffer& place : plan.places) {
      coverage.leave_out(
          "gaps in which a buffer is not in use", [] { return std::string(); }, place.gaps.size());
    }
  }
  recording.traces.back().stated.planned = plan.total;
  return recording;
}

}  // namespace memreplay
