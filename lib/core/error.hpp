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

  const std::string& file() const { return file_; }
  const std::string& place() const { return place_; }
  const std::string& message() const { return message_; }

 private:
  std::string file_;
  std::string place_;
  std::string message_;
};

/// A command line or a setting that is not valid: an unknown name, a value out of range.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Asked for something that an extension brings which this program was built without.
class NotBuilt : public UsageError {
 public:
  /// `what` begins the sentence: "--edit", "the strategy gmlake".
  NotBuilt(std::string_view what, std::string_view extension);
};

}  // namespace memreplay
