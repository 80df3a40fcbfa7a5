#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/gpu_label.hpp"
#include "questions/explain/explain_report.hpp"
#include "questions/explain/growth.hpp"
#include "questions/explain/phrases.hpp"
#include "report/formats/format.hpp"

namespace memreplay {

Table to_table(const ExplainAnswer& answer) {
  if (std::ranges::any_of(answer.devices, &ExplainedDevice::asks_growth))
    return growth_table(answer);
  const auto of_phases = [](const ExplainedDevice& device) { return device.explanation.by_phase; };
  if (std::ranges::any_of(answer.devices, of_phases)) return phases_table(answer);
  Table table{{left("trace"), "gpu", left("verdict"), "event", left("place"), "live_bytes",
               "live_blocks", "pinned_bytes"}};
  for (const ExplainedDevice& device : answer.devices) {
    const Explanation& e = device.explanation;
    std::map<std::string, std::pair<PlaceSum, Bytes>> places;
    for (const PlaceSum& sum : e.live) places[sum.place].first = sum;
    for (const Pin& pin : e.pins.by_place) places[pin.place].second = pin.pinned;
    const auto add = [&](const auto&... cells) {
      table.add(device.trace.path, device.trace.gpu, name_of(e.cause), e.event, cells...);
    };
    for (const auto& [place, figures] : places) {
      add(place, figures.first.bytes, figures.first.blocks, figures.second);
    }
    if (places.empty()) add();  // a message knows no blocks
  }
  return table;
}

std::string to_markdown(const ExplainAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

std::vector<NamedProfile> to_stacks(const ExplainAnswer& answer) {
  std::vector<NamedProfile> profiles;
  for (const ExplainedDevice& device : answer.devices) {
    const auto& stacks = device.explanation.stacks;
    if (!stacks) continue;
    const bool alone = answer.devices.size() == 1;
    profiles.push_back(
        {alone ? "" : fmt::format("{} {}", device.trace.path, gpu_label(device.trace.gpu)),
         *stacks});
  }
  return profiles;
}

}  // namespace memreplay
