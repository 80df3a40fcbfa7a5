#include "trace/device_name.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "trace/gate.hpp"

namespace memreplay {

int device_named(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  std::string lower = lower_case(std::string(name.substr(0, name.find('('))));
  if (lower.find("cpu") != lower.npos || lower.find("host") != lower.npos) return kHostMemory;
  lower.resize(lower.find_last_of(kDigits) + 1);  // npos + 1 is 0
  const std::size_t digits = lower.find_last_not_of(kDigits) + 1;
  return static_cast<int>(
      std::min<std::uint64_t>(parse_whole(lower.substr(digits)).value_or(0), kMostDevices - 1));
}

}  // namespace memreplay
