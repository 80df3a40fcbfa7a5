#pragma once

#include <deque>
#include <vector>

#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"
#include "report/formats/format.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// The reports that were asked for, with their files open from the start.
class Printer {
 public:
  /// Throws UsageError where a file cannot be written, or two reports would share one output.
  explicit Printer(const ReportOptions& options);

  /// Prints an answer in every format that was asked for. `text_on_stdout` is false where something
  /// else is there already.
  template <typename Answer>
  void print(const Answer& answer, bool text_on_stdout = true) {
    print_parts(parts_of(answer), text_on_stdout);
  }

  bool writes_files() const { return !files_.empty(); }
  /// Whether a text is to go to standard output.
  bool shows_text() const;

 private:
  void print_parts(const ReportParts& parts, bool text_on_stdout);
  const ReportOptions& options_;
  std::deque<OutputFile> files_;  ///< by format asked for
};

/// Before or after the text of an answer about several recordings.
enum class RanksStand { first, last };

/// Begins or ends that text with what `ranks` answers of them, where there is a text. Nothing where
/// the extension ranks is not built.
void print_ranks(const Printer& printer, const InputOptions& input,
                 const std::vector<StrategySpec>& strategies, const Setup& setup,
                 Progress& progress, Colour colour, RanksStand stand = RanksStand::first);

}  // namespace memreplay
