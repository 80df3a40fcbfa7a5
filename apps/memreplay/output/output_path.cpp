#include "output/output_path.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "core/error.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

std::string number_of(const struct stat& file) {
  return fmt::format("{}:{}", file.st_dev, file.st_ino);
}

/// One text for all names of a file; empty for what has no content to lose.
std::string identity(const std::string& path, int standard) {
  struct stat file {};
  if (path == "-") {
    return fstat(standard, &file) == 0 && S_ISREG(file.st_mode) ? number_of(file) : "";
  }
  std::error_code ignored;
  if (stat(path.c_str(), &file) != 0) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored).string();
  }
  if (S_ISREG(file.st_mode)) return number_of(file);
  return S_ISCHR(file.st_mode) ? "" : fs::absolute(path, ignored).lexically_normal().string();
}

std::string shown(const std::string& what, const std::string& path, const char* dash) {
  return path == "-" && what.front() != '-' ? dash : fmt::format("{} {}", what, path);
}

}  // namespace

void CommandFiles::reads(const std::string& what, const std::string& path) {
  struct stat file {};
  if (path != "-" && stat(path.c_str(), &file) != 0) return;  // nothing there to be lost
  read_.push_back({what, path, identity(path, STDIN_FILENO)});
}

void CommandFiles::writes(const std::string& option, const std::string& path) {
  const std::string written = identity(path, STDOUT_FILENO);
  if (written.empty()) return;
  const std::string self = shown(option, path, "standard output");
  for (const Use& input : read_) {
    if (input.identity != written || input.what == option) continue;
    throw UsageError(fmt::format("{}: the same file as {}; no output replaces an input", self,
                                 shown(input.what, input.path, "standard input")));
  }
  if (path == "-") return;
  const auto [other, first] = written_.try_emplace(written, Use{option, path, written});
  if (first || (other->second.what == option && other->second.path == path)) return;
  throw UsageError(fmt::format("{}: the same file as {} {}; expected a file for each output", self,
                               other->second.what, other->second.path));
}

OutputPath::OutputPath(std::string option, std::string path, std::shared_ptr<CommandFiles> files)
    : option_(std::move(option)), path_(std::move(path)), files_(std::move(files)) {}

void OutputPath::require_page() const {
  if (empty() || is_stdout() || path_.ends_with(".html")) return;
  throw UsageError(fmt::format("-o is '{}'; expected NAME.html, or - for standard output", path_));
}

OutputPath OutputPath::of_run(std::size_t number) const {
  OutputPath out = *this;
  for (std::size_t at = 0; (at = out.path_.find("{n}", at)) != std::string::npos;) {
    out.path_.replace(at, 3, std::to_string(number));
  }
  return out;
}

void OutputPath::claim() const {
  if (files_) files_->writes(option_, path_);
}

}  // namespace memreplay
