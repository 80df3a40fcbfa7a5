#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/results.hpp"

namespace memreplay {

/// What the reports say on a terminal, at most 100 columns wide. `colour` adds emphasis only.
struct TextStyle {
  bool colour = false;
  bool unicode = false;  ///< plots may be drawn with more than ASCII
};

/// One block a run: the answer, then the numbers.
std::string replay_text(const std::vector<ReplayReport>& reports, const TextStyle& style);
/// Side by side by place, the lower bound, warnings, and the winner with its price.
std::string compare_text(const std::vector<ReplayReport>& reports, const TextStyle& style);
/// What each original prints at its first OOM, in the order given.
std::string oom_reports(const std::vector<ReplayReport>& reports);
std::string info_text(const std::vector<TraceSummary>& traces, const TextStyle& style);
/// A line a trace.
std::string verify_text(const std::vector<VerifyReport>& reports, const TextStyle& style);

/// Emphasis in the colours of a terminal, or the text as it is.
std::string bold(std::string_view text, const TextStyle& style);
std::string red(std::string_view text, const TextStyle& style);

}  // namespace memreplay
