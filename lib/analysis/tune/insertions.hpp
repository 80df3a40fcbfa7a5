#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verify/subject.hpp"

namespace memreplay {

/// The events before which calls of empty_cache are inserted, ascending, each named
/// "empty_cache@WHERE": an event, a scope of the recording, or "step" for every one. Throws
/// UsageError where there is no such place, or more than one subject.
std::vector<std::uint64_t> insertions(const std::vector<std::string>& named,
                                      const std::vector<const Subject*>& subjects);

}  // namespace memreplay
