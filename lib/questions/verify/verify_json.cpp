#include <algorithm>

#include "questions/verify/verify_report.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

void fields(JsonFields& f, const VerifiedFile& file) {
  result_fields(f, "verify", file.trace, nullptr, file.runs);
}

std::string to_json(const VerifyAnswer& answer) {
  Json worst = nullptr;
  for (std::size_t i = 0; i < answer.files.size() && worst.is_null(); ++i) {
    const auto diverges = [](const VerifyRun& run) { return run.first_divergence.has_value(); };
    if (std::ranges::any_of(answer.files[i].runs, diverges)) worst = i;
  }
  return dump_each("verify", answer.files, std::move(worst));
}

}  // namespace memreplay
