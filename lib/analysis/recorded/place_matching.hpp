#pragma once

#include <set>
#include <string>
#include <vector>

namespace memreplay {

/// Code places of two versions of a program that are the same place in it.
struct PlacePair {
  std::string function;  ///< "model.py forward"; a place without a line is one itself
  std::string name;      ///< the later one; the function where several lines count as one
  std::vector<std::string> before;  ///< empty: it is new
  std::vector<std::string> now;     ///< empty: it is gone
};

/// Places are named as Places names them. Where the lines of one side are all among those of the
/// other, lines are the same by number; as many lines as before are the same in order; otherwise
/// the function counts as one place. By function, then by line.
std::vector<PlacePair> match_places(const std::set<std::string>& before,
                                    const std::set<std::string>& now);

}  // namespace memreplay
