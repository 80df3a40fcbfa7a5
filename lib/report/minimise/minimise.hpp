#pragma once

#include <string>

#include "analysis/minimise/answer.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// What a small trace shows, and the command that shows it on the file `target` ("-": one still to
/// be named).
std::string to_text(const MinimiseAnswer& answer, const std::string& target,
                    const TextStyle& style = {});

}  // namespace memreplay
