#pragma once

#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "output/file_buffer.hpp"
#include "output/output_path.hpp"
#include "output/target_file.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// Whoever read our standard output has gone. Nothing to tell anybody.
class ClosedOutput : public std::runtime_error {
 public:
  ClosedOutput() : std::runtime_error("standard output is closed") {}
};

/// A file that appears under its name when it is complete, by `commit`. Without `commit` the target
/// stays as it was. "-" is standard output.
class OutputFile {
 public:
  /// Throws UsageError where the file cannot be written, or the command reads it, or writes it
  /// otherwise.
  explicit OutputFile(const OutputPath& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream();
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  TargetFile file_;
  FileBuffer buffer_;
  std::ostream stream_{&buffer_};
};

/// Text for people leaves the program through these two, as terminal_text has it.
/// Throws ClosedOutput when nobody reads it, UsageError when the disk is full.
void write_stdout(std::string_view text, const TextStyle& style);
/// One line, whatever names are in it, which begins with the program's name.
void write_stderr(std::string_view message);

}  // namespace memreplay
