#include "analysis/lint/answer.hpp"

#include <algorithm>
#include <filesystem>

#include "analysis/lint/question.hpp"
#include "core/error.hpp"
#include "strategy/torch/lint.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

// A setting never names a file that exists, but for the empty one.
std::string conf_asked_for(const std::string& conf_or_path) {
  std::error_code ignored;
  if (conf_or_path.empty() || !std::filesystem::exists(conf_or_path, ignored)) return conf_or_path;
  const Recording recording = read_recording(conf_or_path);
  if (!recording.settings.present) {
    throw InputError(conf_or_path, "", "carries no allocator settings; nothing to lint");
  }
  return recording.settings.conf;
}

}  // namespace

bool LintAnswer::valid() const { return std::ranges::none_of(issues, &Issue::error); }

LintAnswer answer(const LintQuestion& question) {
  LintAnswer answer{.conf = conf_asked_for(question.conf_or_path), .issues = {}};
  for (SettingIssue& issue : lint_settings(answer.conf, question.torch_version)) {
    answer.issues.push_back(
        {issue.severity == SettingIssue::Severity::error, std::move(issue.text)});
  }
  return answer;
}

}  // namespace memreplay
