#pragma once

#include <memory>

#include "trace/mrt/mrt_format.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// Gives every trace of the recording, which `about` is of, its events to be read from the file
/// when they are needed. Throws InputError.
void stream_mrt(const Input& input, const std::shared_ptr<const MrtAbout>& about,
                Recording& recording);

}  // namespace memreplay
