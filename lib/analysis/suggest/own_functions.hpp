#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// A line of a file, both as a recording numbers them.
struct FileLine {
  std::uint32_t file = 0;
  std::uint32_t line = 0;

  friend auto operator<=>(const FileLine&, const FileLine&) = default;
};

/// A function of the program's own, as far as stacks show it.
struct OwnFunction {
  std::uint32_t file = 0;  ///< index into Recording::texts
  std::uint32_t name = 0;  ///< index into Recording::texts
  std::uint32_t first = 0;
  std::uint32_t last = 0;       ///< line, included
  std::set<FileLine> calls;     ///< the program's own lines that call it
  bool called_directly = true;  ///< through no other code, such as torch.nn.Sequential
  bool runs_optimizer = false;  ///< itself, or what it calls

  bool holds(const FileLine& at) const {
    return at.file == file && first <= at.line && at.line <= last;
  }
};

/// Finds the functions of a program in its stacks, which name a function, its file and the line
/// reached. Methods of several classes may have one name in one file (forward): lines far enough
/// apart for another class between them are of two functions where other lines call them.
class OwnFunctions {
 public:
  explicit OwnFunctions(const Recording& recording);

  void add(const std::vector<std::uint32_t>& stack);
  /// Without module levels, lambdas and what makes a model (__init__).
  std::vector<OwnFunction> functions() const;

 private:
  struct Line {
    std::set<FileLine> calls;
    bool called_directly = true;
    bool runs_optimizer = false;
  };

  const Recording& recording_;
  std::vector<bool> is_own_;        ///< by frame
  std::vector<bool> is_optimizer_;  ///< by frame
  std::vector<bool> is_call_;       ///< by frame: calls a torch.nn.Module
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, Line>> lines_;
};

}  // namespace memreplay
