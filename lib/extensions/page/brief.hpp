#pragma once

#include <string>

#include "questions/explain/answer.hpp"

namespace memreplay {

/// HTML of what a reader wants to know first of a device: what failed, as a bar of its memory with
/// the request beside it, what holds the memory, and what to do.
std::string brief_of(const ExplainedDevice& device);

}  // namespace memreplay
