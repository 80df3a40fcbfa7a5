#include <fmt/format.h>

#include <iostream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/last_words.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"
#include "questions/convert/answer.hpp"
#include "questions/convert/convert_report.hpp"
#include "questions/convert/minimised.hpp"
#include "report/parts/text_style.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

/// `convert --minimise` and what belongs to it.
struct MinimiseOption {
  bool wanted = false;
  MinimiseQuestion question;
};

/// What `convert` was asked for on the command line, and who writes it.
struct Conversion {
  ConvertQuestion question;
  ReplayQuestion run;
  MinimiseOption minimise;
  OutputPath target;
  const WriterInfo* writer = nullptr;
  bool quiet = false;
  Colour colour = Colour::automatic;

  bool replays() const { return !run.strategies.empty(); }
  /// The content of the file as it is, also what no reader looks at.
  bool copies() const { return writer->write_value != nullptr && changes_nothing(); }
  /// Event by event, where the recording can be read so.
  bool streams() const {
    return writer->open != nullptr && changes_nothing() && !question.input.gpu;
  }

 private:
  bool changes_nothing() const {
    return !replays() && !question.anonymise && !minimise.wanted && question.input.edits.empty();
  }
};

void add_minimise_options(CommandLine& line, MinimiseOption& option) {
  line.flag("--minimise", "Write a small trace that shows the same problem under -s. Default: off.",
            option.wanted);
  MinimiseQuestion& question = option.question;
  line.value("--keep", "oom|gap",
             "The problem to keep: the first OOM, or the gap between reserved and allocated. "
             "Default: an OOM, if any.",
             [&question](const std::string& text) {
               const bool oom = choice_argument("--keep", text, {"oom", "gap"}) == 0;
               question.keep = oom ? Keep::oom : Keep::gap;
             });
  line.value(
      "--budget", "N", "Most events that --minimise replays. Default: 400000000.",
      [&question](const std::string& text) { question.budget = whole_argument("--budget", text); });
}

/// Throws UsageError where an option of --minimise was given without it.
void refuse_without_minimise(const MinimiseOption& option) {
  const MinimiseQuestion usual;
  const MinimiseQuestion& asked = option.question;
  if (option.wanted || (asked.keep == usual.keep && asked.budget == usual.budget)) return;
  throw UsageError("--keep and --budget need --minimise");
}

void check(const Conversion& asked) {
  if (asked.run.strategies.size() > 1) {
    throw UsageError(fmt::format("{} strategies given; one file holds the replay of one",
                                 asked.run.strategies.size()));
  }
  refuse_without_minimise(asked.minimise);
  if (!asked.writer->needs_addresses && asked.replays() && !asked.minimise.wanted) {
    throw UsageError(
        fmt::format("-s with a {}: it holds the program's requests, which no strategy changes; "
                    "expected {}, or --minimise",
                    asked.writer->name, files_with_addresses()));
  }
  if (!asked.copies()) return;
  if (asked.question.input.gpu) {
    throw UsageError(
        "--gpu: a snapshot is written back whole; one device of it can be replayed (-s) or "
        "anonymised");
  }
  if (asked.question.input.read.python_reader) {
    throw UsageError(
        "--reader python: its recordings cannot be written back unchanged; expected the native "
        "reader");
  }
}

/// Throws HelpAsked, and UsageError where the options do not go together.
Conversion parse_conversion(const Command& command, const std::vector<std::string>& arguments) {
  Conversion asked;
  CommandLine line(command);
  add_input_options(line, asked.question.input);
  add_edit_option(line, asked.question.input);
  line.output_behind_inputs("OUT", asked.target);
  add_strategy_options(line, asked.run);
  add_simulated_device_options(line, asked.run);
  add_start_options(line, asked.run);
  add_minimise_options(line, asked.minimise);
  line.flag("--anonymise",
            "Remove texts, absolute times and addresses; replays stay equal. Default: off.",
            asked.question.anonymise);
  add_writer_option(line, asked.writer);
  add_quiet_option(line, asked.quiet);
  add_colour_option(line, asked.colour);
  line.parse(arguments);
  const std::size_t names = asked.question.input.paths.size() + (asked.target.empty() ? 0 : 1);
  if (names != 2) {
    throw UsageError(
        fmt::format("{} names given; expected IN and OUT (memreplay convert IN OUT)", names));
  }
  if (asked.writer == nullptr) asked.writer = &writer_for(asked.target.text());
  check(asked);
  return asked;
}

ConvertQuestion question_of(const Conversion& asked) {
  ConvertQuestion question = asked.question;
  if (asked.replays()) question.strategy = asked.run.strategies.front();
  if (asked.minimise.wanted) question.minimise = asked.minimise.question;
  question.setup = asked.run.setup;
  question.with_addresses = asked.writer->needs_addresses;
  question.one_device = asked.writer->one_device;
  return question;
}

void say(const ConvertAnswer& answered, const Conversion& asked) {
  const std::string& target = asked.target.text();
  if (answered.minimised) {
    if (asked.target.is_stdout()) {
      const TextStyle style = stderr_style();
      std::cerr << terminal_text(to_text(*answered.minimised, target, style), style);
    } else {
      const TextStyle style = terminal_style(asked.colour);
      write_stdout(to_text(*answered.minimised, target, style), style);
    }
  }
  for (const std::string& text : remarks(answered, target)) write_stderr(text);
}

void finish(OutputFile& out, const Conversion& asked, const Losses& losses) {
  out.commit();
  for (const std::string& loss : losses) write_stderr(asked.target.text() + ": " + loss);
  if (!asked.quiet && !asked.minimise.wanted) tell_written(asked.target, asked.writer->name);
}

int copy(const Conversion& asked, OutputFile& out) {
  const InputOptions& input = asked.question.input;
  const auto content = [&](ValueWriter& writer) {
    copy_recording(input.paths.front(), input.read, writer);
  };
  finish(out, asked, asked.writer->write_value(content, out.stream()));
  return kDone;
}

/// False where the recording has to be held in memory.
bool stream(const Conversion& asked, OutputFile& out) {
  if (!asked.streams()) return false;
  const InputOptions& input = asked.question.input;
  std::unique_ptr<EventSink> sink;
  const auto begin = [&]() -> EventSink& { return *(sink = asked.writer->open(out.stream())); };
  if (!stream_recording(input.paths.front(), input.read, begin)) return false;
  finish(out, asked, {});
  return true;
}

}  // namespace

int run_convert(const Command& command, const std::vector<std::string>& arguments) {
  const Conversion asked = parse_conversion(command, arguments);
  set_recording(asked.question.input.paths.front());
  OutputFile out(asked.target);
  if (asked.copies()) return copy(asked, out);
  if (stream(asked, out)) return kDone;

  Progress progress(asked.quiet);
  const bool takes_long = asked.replays() || asked.minimise.wanted;
  const ConvertAnswer answered =
      answer(question_of(asked), takes_long ? progress.control() : Control());
  progress.clear();
  if (answered.recording) {
    finish(out, asked, asked.writer->write(*answered.recording, out.stream()));
  }
  say(answered, asked);
  if (!answered.recording) return kInterrupted;
  return answered.interrupted ? kInterrupted : kDone;
}

}  // namespace memreplay
