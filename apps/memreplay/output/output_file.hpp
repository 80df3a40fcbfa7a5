#pragma once

#include <array>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>

#include "output/output_path.hpp"
#include "output/target_file.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// Writes to an open file, and knows why it could not.
class FileBuffer final : public std::streambuf {
 public:
  FileBuffer() { setp(room_.data(), room_.data() + room_.size()); }
  /// The file stays that of the caller. To be called before anything is written.
  void write_to(int file) { file_ = file; }
  /// The errno of the first write that failed; 0 where none did.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  int file_ = -1;
  int error_ = 0;
  std::array<char, 1 << 16> room_;
};

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
