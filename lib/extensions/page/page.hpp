#pragma once

#include <ostream>
#include <string_view>

#include "extensions/page/answer.hpp"

namespace memreplay {

/// One file of HTML with everything in it: nothing is fetched when it is looked at. Places of
/// blocks are left out, those of the last strategies first, where they would make it larger than
/// asked for; the page says so, and by which `version` of the program it was made.
void write_page(const PageAnswer& page, std::string_view version, std::ostream& out);

}  // namespace memreplay
