#pragma once

#include <string>

#include "help/description.hpp"

namespace memreplay {

/// memreplay.1 and memreplay-COMMAND.1, in the macros of man(7).
std::string manual_page();
std::string manual_page(const CommandDescription& description);

}  // namespace memreplay
