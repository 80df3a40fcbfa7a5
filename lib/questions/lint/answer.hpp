#pragma once

#include <string>
#include <vector>

namespace memreplay {

struct LintQuestion;

/// What is wrong with an allocator setting.
struct LintAnswer {
  struct Issue {
    bool error = true;  ///< or a warning
    std::string text;
  };
  std::string variable = {};  ///< in which it is to stand; empty: it was not said
  std::string conf = {};      ///< what was looked at; empty: the defaults
  bool sets = true;           ///< else it gives the variable no value; an issue says why
  std::vector<Issue> issues = {};
  std::vector<LintAnswer> further = {};  ///< other settings of the text, in order

  bool valid() const;  ///< no error among the issues of any
};

/// Looks at the setting, or at that of the recording. Throws InputError where that one carries
/// none.
LintAnswer answer(const LintQuestion& question);

/// Is this setting valid, and does it do anything?
struct LintQuestion {
  /// A PYTORCH_CUDA_ALLOC_CONF, also with the lines around it (assignments_in), or the path of a
  /// recording or of a file with such lines.
  std::string conf_or_path;
  std::string release;  ///< PyTorch's; empty: the newest
};

}  // namespace memreplay
