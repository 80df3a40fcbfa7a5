#include <fmt/format.h>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "questions/verify/verify_report.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBehindVerdict = 13;

}  // namespace

std::string not_applicable_sentence(const VerifyAnswer& answer) {
  for (const VerifiedFile& file : answer.files) {
    for (const VerifyRun& run : file.runs) {
      return fmt::format("{} {}: {}", file.trace.path, gpu_label(run.gpu), run.reason);
    }
  }
  return "no recording has a device to verify";
}

std::string to_text(const VerifyAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  for (const VerifiedFile& file : answer.files) {
    for (const VerifyRun& run : file.runs) {
      const bool wrong = run.verdict == Verdict::diverged || run.verdict == Verdict::resynchronised;
      const std::string verdict = fmt::format("{:<11}", name_of(run.verdict));
      std::string text = fmt::format("{} {}: ", file.trace.path, gpu_label(run.gpu));
      if (run.verdict == Verdict::unsupported) {
        text += run.reason;
      } else {
        text +=
            fmt::format("{} of {} placements, {} of {} segment events",
                        human_count(run.allocs_matched), human_count(run.allocs),
                        human_count(run.segment_events_matched), human_count(run.segment_events));
        if (run.forced > 0) text += ", " + human_count(run.forced) + " forced";
        if (wrong && !run.release.empty()) {
          text += fmt::format(" (rules of {})", run.release);
        }
      }
      out += fmt::format(" {} {}\n", wrong ? red(verdict, style) : verdict,
                         wrapped(text, kBehindVerdict, style.width));
      if (run.first_divergence) {
        const auto& d = *run.first_divergence;
        append_paragraph(out,
                         fmt::format("first at event {}: expected {}, got {}; {}",
                                     human_count(d.event), d.expected, d.got, d.why),
                         3);
      }
      if (run.verdict != Verdict::unsupported && !run.reason.empty()) {
        append_paragraph(out, run.reason, 3);
      }
    }
  }
  return out.text();
}

Table to_table(const VerifyAnswer& answer) {
  Table table{{left("trace"), "gpu", left("verdict"), "allocs", "allocs_matched", "segment_events",
               "segment_events_matched", left("reason")}};
  for (const VerifiedFile& file : answer.files) {
    for (const VerifyRun& run : file.runs) {
      table.add(file.trace.path, run.gpu, name_of(run.verdict), run.allocs, run.allocs_matched,
                run.segment_events, run.segment_events_matched, run.reason);
    }
  }
  return table;
}

}  // namespace memreplay
