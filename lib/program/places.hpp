#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program/facts.hpp"
#include "trace/frame_kind.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Frames that serve any program: C++, installed packages, PyTorch, the interpreter, generated
/// code.
bool is_noise(const Recording& recording, const Frame& frame);

/// One of its frames is of a PyTorch optimizer.
bool is_of_optimizer(const Recording& recording, std::uint32_t stack);

/// "/home/me/model.py:41 forward"; without a line "/home/me/model.py forward".
std::string frame_text(const Recording& recording, const Frame& frame);

/// What a recording tells of who asked for a block.
struct Asker {
  std::uint32_t stack = 0;  ///< one of the recording's stacks; 0: none
  std::uint32_t tag = 0;    ///< one of the recording's texts; 0: none
  bool before = false;      ///< it was there before the recording

  bool known() const { return stack != 0 || tag != 0; }
  friend auto operator<=>(const Asker&, const Asker&) = default;
};

/// Who asked for the block that an event requests.
Asker asker_of(const Trace& trace, std::uint64_t event);
/// Who asked for a block of the start state; where no event follows, that state is the whole
/// recording, and `before` is not set.
Asker asker_of(const Trace& trace, const BlockInfo& block);
/// Some request has a stack or a tag.
bool says_who_asked(const Trace& trace);

/// Code places of a recording's stacks, for people: "model.py:41 forward", with as many folders as
/// tell apart the program's files.
///
/// The place of a stack is its innermost frame of the program itself. Where there is none, that of
/// an installed package; then the file that was generated; then PyTorch's or the interpreter's own
/// Python; then the backward function that autograd ran; then the innermost C++ frame that has a
/// name and is not the allocator's. Without a stack the tag is the place. Unfolded, the frames of
/// packages are the program's own.
class Places {
 public:
  explicit Places(const Recording& recording, PlaceBy by = PlaceBy::place);

  /// The number of a place; several askers may share one.
  std::uint32_t of(const Asker& asker) const;
  const std::string& name(std::uint32_t place) const { return names_[place]; }
  const std::string& name_of(const Asker& asker) const { return name(of(asker)); }
  std::size_t size() const { return names_.size(); }

  /// Its place after those that called it, the outermost first; noise is left out.
  std::vector<std::string> calls(const Asker& asker) const;

 private:
  std::vector<std::uint32_t> place_of_stack_;
  std::map<std::uint32_t, std::uint32_t> place_of_tag_;
  std::vector<std::vector<std::uint32_t>> callers_;  ///< by stack: places, the innermost first
  std::vector<std::string> names_;
};

/// "a/c/d.py" of "a/b/..\c/d.py".
std::string tidy_path(std::string_view path);

/// The shortest endings that tell tidy paths apart: "enc/model.py" and "dec/model.py", but
/// "train.py".
std::map<std::string, std::string> path_labels(const std::set<std::string>& paths);

/// By place: how often each size was requested.
using PlaceSizes = std::map<std::string, std::map<Bytes, std::uint64_t>>;

/// Makes one of a place that is gone and a new one where only the name of the file or of the
/// function changed: the line is the same, or half of their bytes are of the same sizes. `pairs`
/// are those of match_places.
void join_renamed(std::vector<PlacePair>& pairs, const PlaceSizes& before, const PlaceSizes& now);

/// Places are named as Places names them; a file of fewer folders is the one whose name ends so.
/// Where the lines of one side are all among those of the other, lines are the same by number; as
/// many lines as before are the same in order; otherwise the function counts as one place. By
/// function, then by line.
std::vector<PlacePair> match_places(const std::set<std::string>& before,
                                    const std::set<std::string>& now);

}  // namespace memreplay
