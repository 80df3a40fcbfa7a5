#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "options/options.hpp"
#include "output/output_file.hpp"
#include "report/parts/table.hpp"

namespace memreplay {

/// For an issue or a pull request: what a text without colours says up to its first empty line,
/// then the table.
std::string answered(const std::string& text, const Table& table);

/// The reports that were asked for, with their files open from the start.
class Printer {
 public:
  /// Throws UsageError where a file cannot be written, or two reports would share one output.
  explicit Printer(const ReportOptions& options);

  struct Report {
    std::function<std::string()> text;
    std::function<std::string()> json;
    std::function<Table()> table;  ///< for CSV and Markdown; empty where there is none
    std::function<std::string()> markdown = {};  ///< where it is more than the table
  };
  /// `text_on_stdout` false: something else is there already.
  void print(const Report& report, bool text_on_stdout = true);

 private:
  const ReportOptions& options_;
  std::unique_ptr<OutputFile> json_;
  std::unique_ptr<OutputFile> csv_;
  std::unique_ptr<OutputFile> markdown_;
};

}  // namespace memreplay
