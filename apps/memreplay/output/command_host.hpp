#pragma once

#include <atomic>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "report/formats/format.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Who runs a command to have its answer as values, in place of a person at a terminal. Called on
/// the thread that runs the command, `at_hand` on any.
class CommandHost {
 public:
  virtual ~CommandHost() = default;
  /// The answer. Its parts are to be asked for during the call.
  virtual void answered(const ReportParts& parts) = 0;
  /// What stands for standard output.
  virtual std::ostream& output() = 0;
  /// A line of what goes to standard error.
  virtual void note(std::string_view message) = 0;
  /// Becomes true to end the work.
  virtual const std::atomic<bool>& stop() const = 0;
  /// The recording that it calls `path`, unset where that is a file.
  virtual std::optional<Recording> at_hand(const std::string& path) = 0;
};

/// Runs the commands of this thread; null: a terminal.
CommandHost* command_host();

/// While it lives, the commands that this thread runs speak to `host` alone.
class CommandHostScope {
 public:
  explicit CommandHostScope(CommandHost& host);
  ~CommandHostScope();
  CommandHostScope(const CommandHostScope&) = delete;
  CommandHostScope& operator=(const CommandHostScope&) = delete;
};

}  // namespace memreplay
