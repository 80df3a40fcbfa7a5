#include <fmt/format.h>

#include "core/text.hpp"
#include "questions/convert/minimised.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

std::string command(const MinimiseAnswer& small, const std::string& target) {
  std::string line = "memreplay replay " + shell_word(target == "-" ? "OUT.csv" : target);
  for (const std::string& argument : small.arguments) line += ' ' + shell_word(argument);
  return line;
}

std::string what_is_kept(const MinimiseAnswer& small) {
  const std::string& strategy = small.shown_by;
  const RunMetrics& m = small.after;
  if (small.kept == Kept::gap) {
    return fmt::format("{} reserves {} and allocates {} ({} and {} before)", strategy,
                       human_size(m.peak_reserved), human_size(m.peak_allocated),
                       human_size(small.before.peak_reserved),
                       human_size(small.before.peak_allocated));
  }
  const std::string why = small.kept == Kept::shortage        ? "shortage"
                          : small.kept == Kept::fragmentation ? "fragmentation"
                                                              : "it may not use the free memory";
  return fmt::format("{} is refused the same {} with {} free, largest hole {}: {}", strategy,
                     exact_size(m.first_oom->requested), human_size(m.first_oom->free),
                     human_size(m.first_oom->largest_free), why);
}

// What the recording tells and a trace of requests and frees cannot.
std::string left_out(const MinimiseAnswer& small) {
  if (small.pool_ends + small.unfinished_frees == 0) return {};
  return fmt::format(" Left out: {} of private pools, {} never completed.",
                     counted(small.pool_ends, "end"), counted(small.unfinished_frees, "free"));
}

}  // namespace

std::string to_text(const MinimiseAnswer& answer, const std::string& target,
                    const TextStyle& style) {
  const std::string end =
      answer.finished ? "" : " The search was ended early; the trace could be smaller.";
  return wrapped(fmt::format("{} become {}: {}. {} made.{}", counted(answer.events_before, "event"),
                             human_count(answer.events), what_is_kept(answer),
                             counted(answer.replays, "replay"), end + left_out(answer)),
                 0, style.width) +
         '\n' + command(answer, target) + '\n';
}

}  // namespace memreplay
