#pragma once

#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "output/output_path.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// Whoever read our standard output has gone. Nothing to tell anybody.
class ClosedOutput : public std::runtime_error {
 public:
  ClosedOutput() : std::runtime_error("standard output is closed") {}
};

/// A file that appears under its name when it is complete: written beside the target, renamed by
/// `commit`. Without `commit` the target stays as it was. "-" is standard output; what is no
/// ordinary file (a pipe, /dev/null) is written to directly.
class OutputFile {
 public:
  /// Throws UsageError where the file cannot be written, or the command reads it, or writes it
  /// otherwise.
  explicit OutputFile(const OutputPath& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream();
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string target_;     ///< path_ with links followed
  std::string temporary_;  ///< empty: written to directly
  std::ofstream file_;
};

/// Text for people leaves the program through these two, as terminal_text has it.
/// Throws ClosedOutput when nobody reads it, UsageError when the disk is full.
void write_stdout(std::string_view text, const TextStyle& style);
/// A line of its own, which begins with the program's name.
void write_stderr(std::string_view message);

}  // namespace memreplay
