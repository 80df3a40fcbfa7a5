#pragma once

#include "spool/recording.hpp"

namespace memreplay::capture {

SpoolSummary stream_malloc(const SpooledProcess& process, EventSink& sink);

}  // namespace memreplay::capture
