#pragma once

#include <string>

#include "trace/reader.hpp"
#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {

/// Reads the pickle of a PyTorch snapshot without Python. Throws InputError.
TorchSnapshot read_torch_pickle(const Input& input);

bool is_pickle(const Input& input);
/// The format for people: "PyTorch snapshot, protocol 4".
std::string torch_pickle_detail(const Input& input);

inline constexpr std::string_view kTorchPickleFormat = "torch-snapshot";

}  // namespace memreplay
