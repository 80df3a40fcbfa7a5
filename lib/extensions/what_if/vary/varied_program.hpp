#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/rewrite.hpp"
#include "run/late_start/settled_start.hpp"
#include "run/what_if.hpp"

namespace memreplay {

/// One device of a recording of a program, and the value that its parameter had.
struct Varied {
  const Subject* subject = nullptr;
  std::int64_t value = 1;                         ///< above 0, another one for each
  std::span<const StartTried> starts_tried = {};  ///< set where it starts late
};

/// A value of a parameter at which a program was not recorded.
struct ParameterAt {
  std::string name;
  std::int64_t value = 1;
};

/// The program's requests at that value, from two or more recordings by ascending value: events
/// come from the nearest one, sizes follow from all. Others are made where recordings take
/// different courses. Throws UsageError where they are not of one program. O(events log events) for
/// each pair of recordings, and see `align`.
MadeRecordings predicted(std::span<const Varied> varied, const ParameterAt& at);

/// Recordings of one program at several values of a parameter. Those that end at an OOM before one
/// whole step is known are left out.
class VariedProgram {
 public:
  /// The recordings outlive this. Throws UsageError where they are not of the same devices, or
  /// where fewer than two are left; only `gpu` of each, when it is given.
  VariedProgram(const std::deque<Recording>& recordings, const Variation& variation,
                std::optional<int> gpu);

  const std::string& name() const { return name_; }
  /// Ascending.
  const std::vector<std::int64_t>& values() const { return values_; }
  std::size_t devices() const { return devices_.size(); }
  /// The recordings of one device, in the order of the values.
  const std::deque<Subject>& subjects(std::size_t device) const { return devices_[device]; }

  /// The program on each device, as recorded where it was. `without`: the index of a value that is
  /// left out.
  std::vector<MadeRecordings> at(std::int64_t value, std::optional<std::size_t> without = {}) const;

 private:
  MadeRecordings recorded(std::size_t device, std::size_t i) const;

  std::string name_;
  std::vector<LeftOutSource> left_out_;
  std::vector<std::int64_t> values_;
  std::vector<std::deque<Subject>> devices_;
  std::vector<std::vector<std::vector<StartTried>>> starts_tried_;  ///< by device and value
};

}  // namespace memreplay
