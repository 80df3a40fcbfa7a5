#pragma once

#include <optional>
#include <string>

#include "questions/check/answer.hpp"

namespace memreplay {

/// Reads a file of the schema "memreplay-baseline/1"; unset where there is none. Throws InputError
/// with line and column, or entry and key, also for unknown keys and metrics: a typing error must
/// not turn a check off unseen.
std::optional<Baseline> read_baseline(const std::string& path);
/// Reads the text of such a file; `path` is for messages.
Baseline parse_baseline(const std::string& path, const std::string& text);

/// The file's text: for equal baselines the same bytes, and few lines that change where little did.
std::string baseline_text(const Baseline& baseline);

}  // namespace memreplay
