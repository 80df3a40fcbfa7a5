#include "program/judge.hpp"

#include <algorithm>

#include "core/torch_sizes.hpp"

namespace memreplay {

Bytes device_bytes_for(Bytes request, const std::optional<TorchModel>& model, Bytes granularity) {
  if (!model) return round_up(request, granularity);
  const torch::Settings& settings = model->settings;
  if (!settings.expandable_segments) {
    return torch::get_allocation_size(request, settings.large_segment_size);
  }
  const bool small = request <= torch::kSmallSize;
  return round_up(request, small ? torch::kSmallBuffer : settings.large_segment_size);
}

Refusal refusal_of(const OomPlace& oom, Bytes needed, std::optional<Bytes> total) {
  const bool refused_itself = oom.device_free >= needed && oom.obtainable >= needed;
  const Bytes obtainable = refused_itself ? 0 : oom.obtainable;
  Refusal refusal{.event = oom.event,
                  .live = oom.live,
                  .allocated = oom.allocated,
                  .requested = oom.requested,
                  .device_free = oom.device_free,
                  .room = oom.held + oom.device_free,
                  .allowance = oom.held + std::min(oom.device_free, obtainable),
                  .total = total};
  refusal.cause = refusal.cause_by_sizes();
  return refusal;
}

}  // namespace memreplay
