#pragma once

#include "abi.hpp"

namespace memreplay::gpu {

/// A piece of work was handed to a device: kernels, copies, sets. Events count them.
void work_was_launched();
/// The program waited for all of it.
void everything_is_done();

}  // namespace memreplay::gpu
