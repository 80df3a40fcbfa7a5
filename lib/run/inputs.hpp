#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/control.hpp"
#include "program/rewrite.hpp"
#include "program/trace_summary.hpp"
#include "run/together.hpp"
#include "run/what_if.hpp"
#include "trace/reader.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// Which recordings a question is about.
struct InputOptions {
  std::vector<std::string> paths;  ///< "-" is standard input
  ReadOptions read;
  std::optional<int> gpu;          ///< only that device of each recording; unset: all
  std::vector<std::string> edits;  ///< made to each recording, in this order: see check_edit
  /// The paths are of one program; where a value is asked for, what is predicted for it stands in
  /// the place of all.
  std::optional<Variation> variation;
  bool together = false;               ///< all are of one device, which they share
  std::optional<TogetherOrder> order;  ///< how their events fall together then
};

/// How many of them may be read at once: standard input goes to the first that names it, and there
/// is one Python.
unsigned readers_at_once(const InputOptions& input);

/// A device of a recording that a question is about.
struct Chosen {
  const Recording* recording;
  const Trace* trace;
  /// Where it is no recording but was made from one; null: as it was recorded.
  std::shared_ptr<const MadeRecordings> made = {};

  /// Verifies the device, where it can be verified, and shows that it does.
  Subject subject(const Control& control) const;
};

/// A file that could not be read, or that has nothing to replay.
struct Unreadable {
  std::string path;     ///< as given
  std::string message;  ///< "FILE:PLACE: what is wrong; what was expected"
};

/// What follows when one of several recordings cannot be read.
enum class OnUnreadable { stop, go_on };

/// The recordings that a question is about, in the order given.
class Inputs {
 public:
  /// Reads them all, several at once. Throws InputError, also where one has nothing to replay;
  /// going on, such files are kept in `unreadable()`, and it may be that nothing else is there.
  explicit Inputs(const InputOptions& input, OnUnreadable behind = OnUnreadable::stop);

  const std::deque<Recording>& recordings() const { return recordings_; }
  const std::vector<Chosen>& chosen() const { return chosen_; }
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }

 private:
  void add(Recording&& recording, const InputOptions& input);
  void add(MadeRecordings&& made);
  void put_together(std::optional<TogetherOrder> order);

  std::deque<Recording> recordings_;
  std::vector<Chosen> chosen_;
  std::vector<Unreadable> unreadable_;
};

/// What a recording says about one of its devices, with the edits that were made to it.
TraceSummary summarise(const Chosen& chosen);

/// How far the model reproduces the recording; unset where it was not tried.
std::optional<VerifyRun> model_check(const Subject& subject);

}  // namespace memreplay
