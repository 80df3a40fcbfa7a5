#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/parts/text_style.hpp"

namespace memreplay {

/// The files that one command line names. What is written is nothing that is read, and nothing that
/// is written otherwise, by whatever name: of files that are there the files are compared, so that
/// links count too, of others the paths. Terminals and /dev/null may be named twice.
class CommandFiles {
 public:
  /// `what` is how messages call it: "the recording", "--cost".
  void reads(const std::string& what, const std::string& path);
  /// Throws UsageError where `path` is in use. An option may say the same again.
  void writes(const std::string& option, const std::string& path);

 private:
  struct Use {
    std::string what;
    std::string path;
    std::string identity;
  };
  std::vector<Use> read_;
  std::map<std::string, Use> written_;  ///< by identity
};

/// Where an option wants something written. Only a CommandLine makes one that is not empty, and an
/// OutputFile takes nothing else: so no output is opened that was not laid beside the inputs.
class OutputPath {
 public:
  /// Not asked for.
  OutputPath() = default;

  bool empty() const { return path_.empty(); }
  bool is_stdout() const { return path_ == "-"; }
  const std::string& text() const { return path_; }
  /// It has a {n}, which stands for the number of a run.
  bool of_each_run() const { return path_.find("{n}") != std::string::npos; }
  /// Throws UsageError where it is something else than NAME.html or standard output.
  void require_page() const;
  /// With the number in the place of each {n}.
  OutputPath of_run(std::size_t number) const;
  /// Throws UsageError where it is in use otherwise.
  void claim() const;

 private:
  friend class CommandLine;
  OutputPath(std::string option, std::string path, std::shared_ptr<CommandFiles> files);

  std::string option_;
  std::string path_;
  std::shared_ptr<CommandFiles> files_;
};

/// A file that takes its place when it is complete. Until then it has no name (O_TMPFILE), so that
/// nothing of it stays, however the program ends; where the file system needs one it stands beside
/// the target, and `remove_unfinished_files` takes it away. What is no ordinary file (a pipe,
/// /dev/null) is written to directly. Functions give the errno of what failed, 0 where all is well.
class TargetFile {
 public:
  TargetFile() = default;
  ~TargetFile();
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  /// The file will have the rights of the one that it replaces.
  int open(const std::string& target);
  int number() const { return file_; }
  /// Closes it under the target's name. What stood there is given up only for what is on the disk.
  int finish();

 private:
  friend void remove_unfinished_files();
  int open_beside();
  int link_as(const std::string& name) const;
  void enlist();
  void strike_off();
  int close();

  int file_ = -1;
  bool direct_ = false;
  std::string target_;
  std::string name_;  ///< while it is not complete; empty where it has none
  TargetFile* next_ = nullptr;
};

/// For the end of the program by a signal, or without memory: safe in signal handlers.
void remove_unfinished_files();

/// Writes to an open file. The first write that fails throws: ClosedOutput where it is standard
/// output that nobody reads, else UsageError.
class FileBuffer final : public std::streambuf {
 public:
  /// `path` is what messages call the file.
  explicit FileBuffer(std::string path) : path_(std::move(path)) {
    setp(room_.data(), room_.data() + room_.size());
  }
  /// The file stays that of the caller. To be called before anything is written.
  void write_to(int file) { file_ = file; }
  [[noreturn]] void fail(int error) const;

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  std::string path_;
  int file_ = -1;
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
  /// All of a known answer, and commits it. That nobody reads standard output is no error.
  void write(const std::function<void(std::ostream&)>& content);

 private:
  TargetFile file_;
  FileBuffer buffer_;
  bool for_host_;  ///< standard output of a command that has a host
  std::ostream stream_{&buffer_};
};

/// Text for people leaves the program through these two, as terminal_text has it.
/// False where nobody reads it. Throws UsageError when the disk is full.
bool write_stdout(std::string_view text, const TextStyle& style);
/// What was written to `path` ("CSV"), with its size, on standard output; nothing where that has
/// the content, or the command has a host.
void tell_written(const OutputPath& path, std::string_view what);
/// One line, whatever names are in it, which begins with the program's name.
void write_stderr(std::string_view message);

/// A file that is read, changed and written. Where several processes do so at once, no change is
/// lost: one that was made since the file was read is never overwritten.
class RevisedFile {
 public:
  /// Throws InputError where it cannot be read, UsageError where it cannot be written.
  explicit RevisedFile(const OutputPath& path);

  /// What the file holds; unset where there is none.
  const std::optional<std::string>& text() const { return text_; }
  /// Replaces the file's content. False where it is no longer `text`, which is read anew then: the
  /// change is to be made again. Throws as the constructor.
  bool replace(std::string_view text);

 private:
  std::string path_;
  std::optional<std::string> text_;
  OutputFile file_;
};

}  // namespace memreplay
