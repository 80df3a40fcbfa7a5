#pragma once

#include <string>
#include <string_view>

#include "strategy/torch/assignment.hpp"

namespace memreplay::torch {

/// Before a text that a shell takes where the variable is not set: "${NAME:-TEXT}".
inline constexpr char kDefault = '\x01';
/// Around the name of a variable whose value stands here: "$NAME", "${NAME}", "%NAME%".
inline constexpr char kReference = '\x02';

/// The text with such marks in place of what shells expand.
std::string with_references_marked(std::string_view text);

/// Takes the marks out of a value, and notes what that means for it.
void settle_references(Assignment& read);

}  // namespace memreplay::torch
