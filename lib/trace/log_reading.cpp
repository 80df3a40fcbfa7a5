#include "trace/log_reading.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace memreplay {

int device_in_name(std::string_view path) {
  constexpr std::string_view kMark = "dev";
  std::string_view name = path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
  for (std::size_t at = name.rfind(kMark); at != name.npos && at > 0;
       at = name.rfind(kMark, at - 1)) {
    std::string_view digits = name.substr(at + kMark.size());
    digits = digits.substr(0, std::min(digits.find('.'), digits.size()));
    const auto device = parse_whole(digits);
    const bool is_apart = name[at - 1] == '.' || name[at - 1] == '_';
    if (is_apart && device && *device < kMostDevices) return static_cast<int>(*device);
  }
  return 0;
}

}  // namespace memreplay
