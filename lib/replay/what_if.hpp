#pragma once

#include <optional>
#include <string>

#include "replay/replay.hpp"
#include "replay/verify.hpp"
#include "strategy/torch/torch.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Whether the strategy takes over the state in which a recording starts. PyTorch's allocator does
/// where its segments stay of the same kind; live blocks are allocated first otherwise.
bool adopts_start(const Recording& recording, const std::optional<TorchModel>& model);

/// Why the recording does not determine what this replay gave; empty where it does. `model` is that
/// of the strategy, if it is PyTorch's allocator; `verified` that of the recording, null where it
/// has none; `room` what the device had for it, nothing for an endless one.
std::string why_inexact(const Recording& recording, const Trace& trace,
                        const std::optional<TorchModel>& model, const VerifyResult* verified,
                        std::optional<Bytes> room, const ReplayResult& result);

}  // namespace memreplay
