#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strategy/torch/conf.hpp"

namespace memreplay::torch {

/// A setting as a person gives it.
struct Assignment {
  std::string variable;      ///< empty: none was named
  std::string conf;          ///< without quotes and what stands around it
  std::string behind = {};   ///< an option after a blank, which ends a value without quotes
  bool is_found = true;      ///< the text names it; else the text itself is the setting
  bool sets = true;          ///< else the variable is asked for or taken away; notes say so
  bool on_windows = false;   ///< as a shell of Windows has it: `set`, `setx`, `$env:`
  SettingIssues notes = {};  ///< about the way in which it is written
};

/// The allocator's settings in a text, in order, at least one: lines of shells (`set`, `export`,
/// `setenv`, PowerShell, a command behind the value), of Python, Dockerfiles, YAML, JSON, Markdown
/// and services, and arguments of _set_allocator_settings. Those in comments count only where there
/// are no others, those that set nothing only where there is nothing else. A text that assigns
/// nothing is a setting itself, without its quotes.
std::vector<Assignment> assignments_in(std::string_view text);

}  // namespace memreplay::torch

namespace memreplay {

using torch::assignments_in;

}  // namespace memreplay
