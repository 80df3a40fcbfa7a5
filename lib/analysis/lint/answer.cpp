#include "analysis/lint/answer.hpp"

#include <algorithm>
#include <filesystem>

#include "analysis/lint/question.hpp"
#include "core/error.hpp"
#include "strategy/torch/lint.hpp"
#include "strategy/torch/variable.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

// A setting never names a file that exists, but for the empty one.
torch::Assignment setting_asked_for(const std::string& conf_or_path) {
  std::error_code ignored;
  if (conf_or_path.empty() || !std::filesystem::exists(conf_or_path, ignored)) {
    return split_assignment(conf_or_path);
  }
  const Recording recording = read_recording(conf_or_path);
  if (!recording.settings.present) {
    throw InputError(conf_or_path, "", "carries no allocator settings; nothing to lint");
  }
  return {"", recording.settings.conf};
}

}  // namespace

bool LintAnswer::valid() const { return std::ranges::none_of(issues, &Issue::error); }

LintAnswer answer(const LintQuestion& question) {
  torch::Assignment asked = setting_asked_for(question.conf_or_path);
  LintAnswer answer{.variable = std::move(asked.variable), .conf = std::move(asked.conf)};
  const auto say = [&](const std::vector<SettingIssue>& issues) {
    for (const SettingIssue& issue : issues) {
      answer.issues.push_back({issue.severity == SettingIssue::Severity::error, issue.text});
    }
  };
  say(lint_variable(answer.variable, question.release));
  say(lint_settings(answer.conf, question.release));
  return answer;
}

}  // namespace memreplay
