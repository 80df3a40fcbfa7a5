#include "options/device.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

DeviceChoice device_argument(const std::string& text) {
  using Kind = DeviceChoice::Kind;
  if (text == "sim") return {Kind::sim, 0, text};
  if (text == "host") return {Kind::host, 0, text};
  if (text == "cuda") return {Kind::cuda, 0, text};
  constexpr std::string_view kCard = "cuda:";
  if (text.starts_with(kCard)) {
    const auto number = parse_whole(std::string_view(text).substr(kCard.size()));
    if (number && *number < 1024) return {Kind::cuda, static_cast<int>(*number), text};
  }
  const std::vector<std::string> known = {"sim", "host", "cuda"};
  throw UsageError(fmt::format("--device is '{}'; expected sim, host, cuda or cuda:N{}", text,
                               did_you_mean(text, known)));
}

}  // namespace memreplay
