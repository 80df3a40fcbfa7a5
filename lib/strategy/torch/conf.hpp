#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strategy/torch/release.hpp"

namespace memreplay::torch {

/// 2.10 reads settings by a new parser, shared by all accelerators.
inline constexpr int kNewParser = 10;

struct SettingIssue {
  enum class Severity { error, warning };
  Severity severity = Severity::error;
  std::string text;
};

using SettingIssues = std::vector<SettingIssue>;
/// Null: there is none.
const SettingIssue* first_error(const SettingIssues& issues);

/// One option of a PYTORCH_CUDA_ALLOC_CONF.
struct ConfEntry {
  std::string key;
  std::string value;  ///< brackets kept, blanks dropped; empty: none was given
};

/// Takes a configuration string apart as the tokenizer of `release` does:
/// "key:value,key:[a:1,b:2]". Nothing after an error is read.
std::vector<ConfEntry> split_conf(std::string_view conf, const Release& release,
                                  SettingIssues& issues);

/// The pairs of a value "[a:1,b:2]"; unset, and an error, where it is no such list.
std::optional<std::vector<std::pair<std::string, std::string>>> split_list(const ConfEntry& entry,
                                                                           const Release& release,
                                                                           SettingIssues& issues);

}  // namespace memreplay::torch
