#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace memreplay {

/// Unreadable or contradictory input. `what()` is "FILE:PLACE: what is wrong; what was expected".
class InputError : public std::runtime_error {
 public:
  /// `place` is a line ("14"), a line and column ("14:9"), or "byte 48,211"; empty when there is
  /// none.
  InputError(std::string_view file, std::string_view place, std::string_view message);
};

/// A command line or a setting that means nothing: an unknown name, a value out of range.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace memreplay
