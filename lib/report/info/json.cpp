#include "report/info/info.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

std::string to_json(const InfoAnswer& answer) {
  std::vector<Json> results;
  for (const TraceSummary& trace : answer.traces) {
    results.push_back(result_json("info", trace, nullptr, Json::array()));
  }
  return dump_results("info", std::move(results), nullptr);
}

}  // namespace memreplay
