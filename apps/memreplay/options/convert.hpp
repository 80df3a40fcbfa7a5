#pragma once

#include <string>
#include <vector>

#include "analysis/convert/answer.hpp"
#include "analysis/minimise/answer.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "trace/writer.hpp"

namespace memreplay {

/// `convert --minimise` and what belongs to it.
struct MinimiseOption {
  bool wanted = false;
  MinimiseQuestion question;
};

void add_minimise_options(CommandLine& line, MinimiseOption& option);

/// Throws UsageError where an option of --minimise was given without it.
void refuse_without_minimise(const MinimiseOption& option);

/// What `convert` was asked for on the command line, and who writes it.
struct Conversion {
  ConvertQuestion question;
  RunOptions run;
  MinimiseOption minimise;
  OutputPath target;
  const WriterInfo* writer = nullptr;
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

/// Throws HelpAsked, and UsageError where the options do not go together.
Conversion parse_conversion(const Command& command, const std::vector<std::string>& arguments);

}  // namespace memreplay
