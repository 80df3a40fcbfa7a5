#include "extensions/calibrate/calibrate_report.hpp"
#include "report/parts/json_parts.hpp"
#include "run/cost_profile.hpp"

namespace memreplay {
namespace {

double milliseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

Json size_json(const SizedTimes& size) {
  const Durations& times = size.times;
  return Json{{"bytes", size.bytes},
              {"count", times.count()},
              {"mean_ms", milliseconds(times.sum()) / static_cast<double>(times.count())},
              {"p50_ms", milliseconds(times.quantile(0.5))},
              {"p99_ms", milliseconds(times.quantile(0.99))},
              {"max_ms", milliseconds(times.largest())}};
}

}  // namespace

std::string to_json(const CalibrateAnswer& answer) {
  const RealMemoryFacts& device = answer.device;
  Json json{{"schema", kProfileSchema},
            {"device",
             {{"kind", device.kind},
              {"name", device.name},
              {"total_bytes", device.total},
              {"granularity_bytes", device.granularity}}},
            {"calls", Json::object()}};
  for (const auto& [name, call] : answer.calibration.calls()) {
    Json sizes = Json::array();
    for (const SizedTimes& size : call->sizes) sizes.push_back(size_json(size));
    json["calls"][name] = {{"waits_for_device", JsonFields::of(call->waits)}, {"sizes", sizes}};
  }
  return dump(json);
}

}  // namespace memreplay
