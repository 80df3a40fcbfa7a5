#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kUnusable = 2;
inline constexpr int kInterrupted = 130;

struct Command {
  std::string_view name;
  std::string_view arguments;  ///< "TRACE... [-s S]..."
  std::string_view summary;    ///< the question that it answers
  std::string_view example;    ///< what follows "memreplay NAME"
  /// Gets what follows the command; returns the exit code.
  int (*run)(const Command&, const std::vector<std::string>& arguments);
};

std::span<const Command> commands();

int run_info(const Command&, const std::vector<std::string>& arguments);
int run_replay(const Command&, const std::vector<std::string>& arguments);
int run_compare(const Command&, const std::vector<std::string>& arguments);
int run_fit(const Command&, const std::vector<std::string>& arguments);
int run_verify(const Command&, const std::vector<std::string>& arguments);
int run_explain(const Command&, const std::vector<std::string>& arguments);
int run_tune(const Command&, const std::vector<std::string>& arguments);
int run_calibrate(const Command&, const std::vector<std::string>& arguments);
int run_check(const Command&, const std::vector<std::string>& arguments);
int run_diff(const Command&, const std::vector<std::string>& arguments);
int run_report(const Command&, const std::vector<std::string>& arguments);
int run_convert(const Command&, const std::vector<std::string>& arguments);
int run_lint(const Command&, const std::vector<std::string>& arguments);
int run_list(const Command&, const std::vector<std::string>& arguments);

}  // namespace memreplay
