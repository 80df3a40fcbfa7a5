#pragma once

#include <string>
#include <vector>

#include "questions/convert/answer.hpp"

namespace memreplay {

/// What is to be said of a conversion to the file `target`, a remark each: what the file leaves out
/// or adds, and what it does not tell of the program itself. Empty where there is nothing to say.
std::vector<std::string> remarks(const ConvertAnswer& answer, const std::string& target);

}  // namespace memreplay
