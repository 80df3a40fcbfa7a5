#pragma once

#include "trace/reader.hpp"
#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {

/// Reads a PyTorch snapshot written as JSON. Throws InputError.
TorchSnapshot read_torch_json(const Input& input);

}  // namespace memreplay
