#include "options/minimise.hpp"

#include "core/error.hpp"

namespace memreplay {

void add_minimise_options(CommandLine& line, MinimiseOption& option) {
  line.flag("--minimise", "A small trace that shows the same under -s. Default: off.",
            option.wanted);
  MinimiseQuestion& question = option.question;
  line.value(
      "--keep", "oom|gap",
      "What that shows: the first OOM, or reserved above allocated. Default: an OOM, if any.",
      [&question](const std::string& text) {
        const bool oom = choice_argument("--keep", text, {"oom", "gap"}) == 0;
        question.keep = oom ? Keep::oom : Keep::gap;
      });
  line.value(
      "--budget", "N", "Events that it may replay. Default: 400000000.",
      [&question](const std::string& text) { question.budget = whole_argument("--budget", text); });
}

void refuse_without_minimise(const MinimiseOption& option) {
  const MinimiseQuestion usual;
  const MinimiseQuestion& asked = option.question;
  if (option.wanted || (asked.keep == usual.keep && asked.budget == usual.budget)) return;
  throw UsageError("--keep and --budget are for --minimise; expected it with them");
}

}  // namespace memreplay
