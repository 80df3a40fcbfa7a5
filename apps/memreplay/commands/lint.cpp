#include "strategy/torch/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"

namespace memreplay {
namespace {

bool is_error(const SettingIssue& issue) { return issue.severity == SettingIssue::Severity::error; }

std::string name_of(const SettingIssue& issue) { return is_error(issue) ? "error" : "warning"; }

std::string lint_text(const std::string& conf, const std::vector<SettingIssue>& issues) {
  if (issues.empty()) {
    return conf.empty() ? " valid: the defaults\n" : fmt::format(" valid: {}\n", conf);
  }
  std::string out;
  for (const SettingIssue& issue : issues) {
    out += fmt::format(" {:<8}{}\n", name_of(issue), wrapped(issue.text, 9));
  }
  return out;
}

std::string lint_json(const std::string& conf, bool valid,
                      const std::vector<SettingIssue>& issues) {
  nlohmann::ordered_json json = {
      {"schema", "memreplay/1"}, {"command", "lint"}, {"conf", conf}, {"valid", valid}};
  json["issues"] = nlohmann::ordered_json::array();
  for (const SettingIssue& issue : issues) {
    json["issues"].push_back({{"severity", name_of(issue)}, {"text", issue.text}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

Table lint_table(const std::vector<SettingIssue>& issues) {
  Table table{{{"severity", true}, {"text", true}}, {}};
  for (const SettingIssue& issue : issues) table.rows.push_back({name_of(issue), issue.text});
  return table;
}

// A setting never names a file that exists, but for the empty one.
std::string conf_of(const std::string& argument) {
  std::error_code ignored;
  if (argument.empty() || !std::filesystem::exists(argument, ignored)) return argument;
  const Recording recording = read_recording(argument);
  if (!recording.settings.present) {
    throw InputError(argument, "", "carries no allocator settings; nothing to lint");
  }
  return recording.settings.conf;
}

}  // namespace

int run_lint(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> given;
  std::string version;
  ReportOptions reports;
  CommandLine line(command);
  line.positionals("CONF", given);
  line.value("--torch-version", "X.Y.Z", "Rules of that PyTorch. Default: the newest.",
             [&](const std::string& text) { version = text; });
  add_report_options(line, reports, true);
  line.parse(arguments);
  if (given.size() != 1) throw UsageError("which setting? (memreplay lint CONF, or a recording)");

  Printer printer(reports);
  const std::string conf = conf_of(given.front());
  const std::vector<SettingIssue> issues = lint_settings(conf, version);
  const bool valid = std::none_of(issues.begin(), issues.end(), is_error);
  printer.print({[&] { return lint_text(conf, issues); },
                 [&] { return lint_json(conf, valid, issues); },
                 [&] { return lint_table(issues); }});
  return valid ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
