#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/recorded/answer.hpp"

namespace memreplay {

/// Places are named as Places names them; a file of fewer folders is the one whose name ends so.
/// Where the lines of one side are all among those of the other, lines are the same by number; as
/// many lines as before are the same in order; otherwise the function counts as one place. By
/// function, then by line.
std::vector<PlacePair> match_places(const std::set<std::string>& before,
                                    const std::set<std::string>& now);

}  // namespace memreplay
