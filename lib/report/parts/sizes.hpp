#pragma once

#include <string>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// Sizes for people that stand side by side: where one of them is shown in GiB, so are all of its
/// magnitude, with as many decimals as tell those apart that differ by a mebibyte.
std::vector<std::string> sizes_beside(const std::vector<Bytes>& sizes);

}  // namespace memreplay
