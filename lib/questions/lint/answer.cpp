#include "questions/lint/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "strategy/torch/assignment.hpp"
#include "strategy/torch/lint.hpp"
#include "strategy/torch/variable.hpp"
#include "trace/input.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using Assignments = std::vector<torch::Assignment>;

/// Names have neither dots nor slashes, and what has a value has more.
bool seems_a_path(const std::string& text) {
  return text.find_first_of("./") != text.npos && text.find_first_of(":= \n") == text.npos;
}

// A setting never names a file that exists, but for the empty one.
Assignments settings_asked_for(const std::string& text_or_path) {
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(text_or_path, ignored);
  if (text_or_path.empty() || (!is_there && !seems_a_path(text_or_path))) {
    return assignments_in(text_or_path);
  }
  if (std::filesystem::is_regular_file(text_or_path, ignored) && !seems_a_recording(text_or_path)) {
    Assignments found = assignments_in(read_file(text_or_path));
    if (found.front().is_found) return found;
  }
  const Recording recording = read_recording(text_or_path);
  if (!recording.settings.present) {
    throw InputError(text_or_path, "", "carries no allocator settings; nothing to lint");
  }
  return {{"", recording.settings.conf}};
}

/// A build for ROCm has it under this name.
std::string in_names_of_cuda(std::string conf) {
  constexpr std::string_view kHip = "hipMallocAsync";
  if (const std::size_t at = conf.find(kHip); at != conf.npos) {
    conf.replace(at, kHip.size(), "cudaMallocAsync");
  }
  return conf;
}

LintAnswer linted(torch::Assignment asked, const std::string& release) {
  if (asked.variable.empty() && has_npu_options(asked.conf)) asked.variable = torch::kNpuVariable;
  LintAnswer answer{.variable = std::move(asked.variable), .conf = std::move(asked.conf)};
  const auto say = [&](const std::vector<SettingIssue>& issues) {
    for (const SettingIssue& issue : issues) {
      answer.issues.push_back({issue.severity == SettingIssue::Severity::error, issue.text});
    }
  };
  answer.sets = asked.sets;
  say(asked.notes);
  if (!asked.sets) return answer;
  if (is_of_another_program(answer.variable)) {
    answer.sets = false;
    answer.issues.push_back(
        {false, fmt::format("{} is no setting of PyTorch's allocator: nothing was checked",
                            answer.variable)});
    return answer;
  }
  say(lint_variable(answer.variable, answer.conf, release));
  if (torch::turns_caching_off(answer.variable) || is_mps_variable(answer.variable)) return answer;
  if (!asked.behind.empty()) {
    answer.issues.push_back(
        {false, fmt::format("a shell ends the value at the blank before '{}', so that is not part "
                            "of it: put the value in quotes, or remove the blank",
                            asked.behind)});
  }
  std::string meant;
  say(lint_separators(answer.conf, meant));
  const bool is_npu = answer.variable == torch::kNpuVariable;
  if (answer.variable == torch::kHipVariable) meant = in_names_of_cuda(meant);
  if (!is_npu && has_npu_options(meant)) {
    answer.issues.push_back(
        {false, fmt::format("{} has options that {} does not: they belong there",
                            torch::kNpuVariable, answer.variable)});
  }
  say(is_npu ? lint_npu_settings(meant) : lint_settings(meant, release));
  if (asked.on_windows && meant.find("expandable_segments:True") != meant.npos) {
    answer.issues.push_back(
        {false,
         "expandable_segments is not supported on Windows: PyTorch ignores it there with a "
         "warning of its own; max_split_size_mb and garbage_collection_threshold work"});
  }
  return answer;
}

/// Only one of two variables with different values is read.
void say_which_is_read(LintAnswer& answer, const std::string& release) {
  LintAnswer* before = &answer;
  for (LintAnswer& other : answer.further) {
    const std::string_view read =
        torch::variable_read_first(before->variable, other.variable, release);
    if (!read.empty() && before->sets && other.sets && before->conf != other.conf) {
      const bool is_read = read == other.variable;
      other.issues.push_back(
          {false, fmt::format("where both are set, PyTorch reads {} and ignores {} since 2.10",
                              read, is_read ? before->variable : other.variable)});
    }
    before = &other;
  }
}

}  // namespace

bool LintAnswer::valid() const {
  return std::ranges::none_of(issues, &Issue::error) &&
         std::ranges::all_of(further, &LintAnswer::valid);
}

LintAnswer answer(const LintQuestion& question) {
  const Assignments asked = settings_asked_for(question.conf_or_path);
  LintAnswer answer = linted(asked.front(), question.release);
  for (auto other = asked.begin() + 1; other != asked.end(); ++other) {
    answer.further.push_back(linted(*other, question.release));
  }
  say_which_is_read(answer, question.release);
  return answer;
}

}  // namespace memreplay
