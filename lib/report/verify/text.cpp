#include "core/text.hpp"

#include <fmt/format.h>

#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

std::string verify_text(const std::vector<VerifyReport>& reports, const TextStyle& style) {
  std::string out;
  for (const VerifyReport& report : reports) {
    for (const VerifyRun& run : report.runs) {
      const bool wrong = run.verdict == "diverged" || run.verdict == "resynchronised";
      const std::string verdict = fmt::format("{:<11}", run.verdict);
      std::string text = fmt::format("{} gpu {}: ", report.trace.path, run.gpu);
      if (run.verdict == "unsupported") {
        text += run.reason;
      } else {
        text +=
            fmt::format("{} of {} placements, {} of {} segment events",
                        human_count(run.allocs_matched), human_count(run.allocs),
                        human_count(run.segment_events_matched), human_count(run.segment_events));
        if (run.forced > 0) text += ", " + human_count(run.forced) + " forced";
        if (wrong && !run.torch_version.empty()) {
          text += fmt::format(" (rules of {})", run.torch_version);
        }
      }
      out += fmt::format(" {} {}\n", wrong ? red(verdict, style) : verdict, text);
      if (run.first_divergence) {
        const auto& d = *run.first_divergence;
        out += "   " +
               wrapped(fmt::format("first at event {}: expected {}, got {}; {}",
                                   human_count(d.event), d.expected, d.got, d.why),
                       3) +
               '\n';
      }
      if (run.verdict != "unsupported" && !run.reason.empty()) {
        out += "   " + wrapped(run.reason, 3) + '\n';
      }
    }
  }
  return out;
}

}  // namespace memreplay
