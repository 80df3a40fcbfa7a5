#include "device/cuda/cuda_memory.hpp"

namespace memreplay {

bool has_cuda() { return false; }

std::unique_ptr<RealMemory> open_cuda_memory(int ordinal, const std::string&) {
  throw DeviceError("cuda:" + std::to_string(ordinal) +
                    ": this build has no CUDA: the toolkit was not found when it was built");
}

}  // namespace memreplay
