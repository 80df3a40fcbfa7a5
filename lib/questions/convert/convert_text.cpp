#include <fmt/format.h>

#include "questions/convert/convert_report.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

std::string served_remark(const Run& run, const std::string& target) {
  const std::uint64_t served = run.metrics.recorded_ooms_served;
  if (served == 0) return {};
  return fmt::format(
      "served here, but refused when recorded: {} request{}; each is in {} as a block freed at "
      "once",
      served, served == 1 ? "" : "s", target);
}

std::string estimate_remark(const Run& run) {
  if (!run.interval) return {};
  return fmt::format(
      "the source recording starts late; under {} the program is estimated to reserve {} at its "
      "peak",
      run.strategy, estimated_text(run.metrics.peak_reserved, run.interval->peak_reserved));
}

}  // namespace

std::vector<std::string> remarks(const ConvertAnswer& answer, const std::string& target) {
  std::vector<std::string> remarks;
  const auto add_of = [&](const std::string& file, const std::string& text) {
    if (!text.empty()) remarks.push_back(file + ": " + text);
  };
  const auto add = [&](const std::string& text) { add_of(answer.path, text); };
  for (const auto& [what, count] : answer.left_out) {
    add(fmt::format("left out: {} {}", count, what));
  }
  for (const Run& run : answer.runs) {
    add(served_remark(run, target));
    add_of(target, estimate_remark(run));
  }
  if (answer.unknown_settings) {
    add(fmt::format("its settings '{}' have unknown options; left out", *answer.unknown_settings));
  }
  return remarks;
}

}  // namespace memreplay
