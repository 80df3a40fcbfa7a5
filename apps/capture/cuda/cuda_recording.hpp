#pragma once

#include "spool/recording.hpp"

namespace memreplay::capture {

/// A trace for each device, and one for pinned memory of the host. Pools of a device: the default
/// one is plain memory, 0:1 stream-ordered memory without a named pool, 0:2 managed, 0:3 physical
/// memory for mappings, 1:N the N-th named pool. Streams are numbered as they come, 0 is the
/// default one. Physical memory lives until its handle is released and nothing maps it.
SpoolSummary stream_cuda(const SpooledProcess& process, EventSink& sink);

}  // namespace memreplay::capture
