#pragma once

#include <ostream>
#include <string_view>

#include "extensions/page/answer.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// One file of HTML with everything in it: nothing is fetched when it is looked at. Places of
/// blocks are left out, those of the last strategies first, where they would make it larger than
/// asked for; the page says so, and by which `version` of the program it was made.
void write_page(const PageAnswer& page, std::string_view version, std::ostream& out);

/// What is live over the events of a recording, as one SVG picture: blocks by age, the oldest at
/// the bottom, each as high as the bytes that were requested, in the colour of the place that asked
/// for it; a column of pixels shows the moment of its most live bytes. Nothing is replayed for it.
/// O(events + columns * live blocks).
void write_blocks_picture(const Subject& subject, std::ostream& out);

}  // namespace memreplay
