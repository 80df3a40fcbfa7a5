#include "options/convert.hpp"

#include <fmt/format.h>

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

namespace {

void check(const Conversion& asked) {
  if (asked.run.strategies.size() > 1) {
    throw UsageError(fmt::format("{} strategies given; one file holds the replay of one",
                                 asked.run.strategies.size()));
  }
  refuse_without_minimise(asked.minimise);
  if (!asked.writer->needs_addresses && asked.replays() && !asked.minimise.wanted) {
    throw UsageError(fmt::format(
        "-s with a {}: it holds what the program asked for, which no strategy changes; expected "
        "{}, or --minimise",
        asked.writer->name, files_with_addresses()));
  }
  if (!asked.copies()) return;
  if (asked.question.input.gpu) {
    throw UsageError(
        "--gpu: a snapshot is written back whole; a part of it can be replayed (-s) or anonymised");
  }
  if (asked.question.input.read.python_reader) {
    throw UsageError("--reader python: what it reads cannot be written back as it is");
  }
}

}  // namespace

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
            "Without texts, absolute times and addresses; replays stay equal. Default: off.",
            asked.question.anonymise);
  add_writer_option(line, asked.writer);
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

}  // namespace memreplay
