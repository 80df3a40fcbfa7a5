#include "commands.hpp"

namespace memreplay {

std::span<const Command> commands() {
  static constexpr Command kCommands[] = {
      {"info", "TRACE...", "What does the recording cover, and can it be trusted?", "run.pickle",
       run_info},
      {"replay", "TRACE... [-s S]...", "What happens under this strategy?",
       "run.pickle --capacity 24G -s torch:expandable_segments=True", run_replay},
      {"compare", "TRACE... [-s S]...", "Strategies side by side, ranked.",
       "run.pickle -s recorded -s torch:max_split_size_mb=128 -s bfc", run_compare},
      {"verify", "TRACE...", "Does the model give every recorded address and segment?",
       "run.pickle", run_verify},
      {"explain", "TRACE...", "Fragmentation or shortage? What pins the memory?", "oom.pickle",
       run_explain},
      {"tune", "TRACE...", "Which allocator setting is best, as a line to paste?", "oom.pickle",
       run_tune},
      {"fit", "TRACE... [-s S]...", "The smallest device on which it runs, per strategy.",
       "oom.pickle -s recorded -s torch:expandable_segments=True --device-name T4", run_fit},
      {"check", "TRACE... --baseline F", "Did it get worse, and where first?",
       "run.pickle --baseline memory.json --junit memory.xml", run_check},
      {"diff", "A B [-s S] | TRACE -s S -s S", "What changed, by stack, size and pool?",
       "before.pickle after.pickle", run_diff},
      {"calibrate", "--device cuda[:N]|host [-o F]", "What do this device's calls cost?",
       "--device cuda:0 -o profile.json", run_calibrate},
      {"report", "TRACE... -o F.html", "Pictures of it, in one file that opens anywhere.",
       "run.pickle -s recorded -s torch:max_split_size_mb=128 -o run.html", run_report},
      {"convert", "IN OUT [-s S]", "From any format read to a PyTorch snapshot, JSON or CSV.",
       "run.csv run.pickle -s torch:expandable_segments=True", run_convert},
      {"lint", "CONF|TRACE", "Is this allocator setting valid, and does it fight itself?",
       "max_split_size_mb:128,expandable_segments:True", run_lint},
      {"list", "strategies|formats|metrics [NAME]", "What there is, with options and defaults.",
       "strategies torch", run_list},
  };
  return kCommands;
}

}  // namespace memreplay
