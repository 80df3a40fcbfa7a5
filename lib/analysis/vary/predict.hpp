#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/edit/made_recording.hpp"
#include "analysis/vary/late_starts.hpp"

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

}  // namespace memreplay
