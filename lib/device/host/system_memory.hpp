#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// The memory of this machine, or of the control group of this process where that has less.
class SystemMemory {
 public:
  /// `root` stands before /proc and the places of mounts. Throws DeviceError where /proc tells
  /// nothing.
  explicit SystemMemory(std::string root = "");

  Bytes total() const { return total_; }
  /// Bytes that are free now without swapping.
  Bytes available() const;
  /// The model name of the machine's processor, or "host".
  std::string processor() const;

 private:
  /// A control group with a limit, version 1 or 2.
  struct Group {
    std::string folder;
    bool second = false;
    Bytes limit = 0;
  };

  void find_groups();
  void add_group(const std::string& folder, bool second);

  std::string root_;
  Bytes total_ = 0;
  std::vector<Group> groups_;
};

}  // namespace memreplay
