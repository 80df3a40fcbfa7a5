#pragma once

#include <string>
#include <vector>

#include "analysis/check/answer.hpp"
#include "options/options.hpp"

namespace memreplay {

/// What a command line asks of `check`.
struct CheckCommand {
  InputOptions input;
  ReportOptions reports;
  CheckQuestion question;
  bool update = false;
  OutputPath baseline;            ///< read, and written by --update
  std::vector<OutputPath> files;  ///< by check_formats()

  /// One of the files is standard output, and the text would be in its way.
  bool takes_stdout() const;
};

/// Throws UsageError, also where the options do not go together.
CheckCommand check_arguments(const Command& command, const std::vector<std::string>& arguments);

}  // namespace memreplay
