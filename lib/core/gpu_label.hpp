#pragma once

#include <string>

namespace memreplay {

/// "gpu 3"; of device -1, which is memory of the host, "host".
inline std::string gpu_label(int gpu) {
  return gpu < 0 ? std::string("host") : "gpu " + std::to_string(gpu);
}

}  // namespace memreplay
