#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

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

}  // namespace memreplay
