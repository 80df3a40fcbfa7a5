#include "report/parts/json_parts.hpp"
#include "report/verify/verify.hpp"

namespace memreplay {

std::string to_json(const VerifyAnswer& answer) {
  std::vector<Json> results;
  Json worst = nullptr;
  for (const VerifiedFile& file : answer.files) {
    Json runs = Json::array();
    for (const VerifyRun& run : file.runs) {
      runs.push_back(verify_run_json(run));
      if (worst.is_null() && run.first_divergence) worst = results.size();
    }
    results.push_back(result_json("verify", file.trace, nullptr, std::move(runs)));
  }
  return dump_results("verify", std::move(results), std::move(worst));
}

}  // namespace memreplay
