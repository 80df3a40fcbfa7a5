#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/ranks/answer.hpp"
#include "extensions/ranks/ranks_report.hpp"
#include "line/commands.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"

namespace memreplay {
namespace {

struct RanksCommand {
  RanksQuestion question;
  ReplayQuestion run;
  ReportOptions reports;
  bool shard = false;
  bool merge = false;
  bool tune = false;
};

RanksQuestion::Shard shard_argument(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = parse_whole(text.substr(0, slash));
  const auto of = slash < text.size() ? parse_whole(text.substr(slash + 1)) : std::nullopt;
  if (number && of && *number >= 1 && *number <= *of) {
    return {static_cast<std::size_t>(*number), static_cast<std::size_t>(*of)};
  }
  throw UsageError(
      fmt::format("--shard is '{}'; expected I/N with I from 1 to N, such as 1/8", text));
}

RanksCommand ranks_arguments(const Command& command, const std::vector<std::string>& arguments) {
  RanksCommand asked;
  RanksQuestion& question = asked.question;
  CommandLine line(command);
  add_input_options(line, question.input);
  line.value("--jobs", "N", "Recordings in memory at once. Default: one per processor core.",
             [&](const std::string& text) {
               question.jobs = static_cast<unsigned>(
                   std::clamp<std::uint64_t>(whole_argument("--jobs", text), 1, 256));
             });
  line.value("--shard", "I/N",
             "Only every N-th recording, from the I-th on; --json=F writes a part for --merge.",
             [&](const std::string& text) {
               question.shard = shard_argument(text);
               asked.shard = true;
             });
  line.flag("--merge", "The files are parts that --shard wrote, in any order. Default: off.",
            asked.merge);
  line.flag("--tune",
            "Search for one setting for all ranks, on a recording of each class. Default: off.",
            asked.tune);
  add_strategy_options(line, asked.run);
  add_simulated_device_options(line, asked.run);
  add_start_options(line, asked.run);
  add_report_options(line, asked.reports);
  line.parse(arguments);
  require_any_path(question.input, command);
  question.strategies = asked.run.strategies;
  question.setup = asked.run.setup;
  if (asked.merge && asked.shard) {
    throw UsageError("--shard writes parts and --merge reads them; expected one of the two");
  }
  if (asked.shard && asked.tune) {
    throw UsageError("--tune needs all classes; expected it with --merge, not with --shard");
  }
  return asked;
}

RanksPart found(const RanksCommand& asked, Progress& progress) {
  if (!asked.merge) return ranks_part(asked.question, progress.control());
  std::vector<RanksPart> parts;
  for (const std::string& path : asked.question.input.paths) parts.push_back(read_part(path));
  return merged(std::move(parts));
}

}  // namespace

int run_ranks(const Command& command, const std::vector<std::string>& arguments) {
  const RanksCommand asked = ranks_arguments(command, arguments);
  Printer printer(asked.reports);
  Progress progress(asked.reports.quiet);
  RanksPart part = found(asked, progress);
  progress.clear();
  for (const std::string& note : part.notes) write_stderr(note);
  for (const UnreadableRank& file : part.unreadable) write_stderr(file.message);
  const bool interrupted = part.interrupted;
  const int status = part.unreadable.empty() ? kDone : kUnusable;
  if (asked.shard || !part.is_whole()) {
    printer.print(part);
    return interrupted ? kInterrupted : status;
  }
  if (part.rows.empty()) return interrupted ? kInterrupted : status;
  RanksAnswer answered = answer(std::move(part));
  if (!asked.merge && !interrupted) explain_worst(answered, asked.question, progress.control());
  if (asked.tune && !interrupted) tune(answered, asked.question, progress.control());
  progress.clear();
  printer.print(answered);
  return progress.control().stopped() ? kInterrupted : status;
}

}  // namespace memreplay
