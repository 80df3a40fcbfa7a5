#pragma once

#include <optional>

#include "metrics/run_metrics.hpp"
#include "program/verdict.hpp"
#include "strategy/torch/torch.hpp"

namespace memreplay {

/// What an allocator takes of the device for a request that no hole serves: PyTorch's a segment or
/// granules by its settings, others (`model` unset) the request in whole granules of the device.
Bytes device_bytes_for(Bytes request, const std::optional<TorchModel>& model, Bytes granularity);

/// The refusal that a replay met. `needed` is what serving it would have taken of the device: where
/// as much was free there, it was the strategy that refused. `total` is the device's size.
Refusal refusal_of(const OomPlace& oom, Bytes needed, std::optional<Bytes> total);

}  // namespace memreplay
