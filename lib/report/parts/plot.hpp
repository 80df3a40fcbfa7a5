#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/run_picture.hpp"

namespace memreplay {

/// The curves of a picture in characters, less than 80 columns, or `width`, and 18 lines: reserved
/// over what is in use (`inner`: "allocated"), each column showing its highest value; the peak
/// named above, OOMs marked under the axis. Without `unicode` in ASCII. Empty where there is
/// nothing to draw.
std::string plot(const RunPicture& picture, const std::string& inner, bool unicode,
                 std::size_t width = 80);

}  // namespace memreplay
