#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/units.hpp"
#include "device/real/real_memory.hpp"

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

class ResidentGrowth;

/// The pages of this process that are in memory, shared ones included, by /proc/self/statm. A look
/// takes about a microsecond. Exact on Linux 6.18, as measured; kernels from 6.2 on may keep some
/// 100 KiB a processor uncounted.
class ResidentMemory {
 public:
  ResidentMemory();
  ~ResidentMemory();
  ResidentMemory(const ResidentMemory&) = delete;
  ResidentMemory& operator=(const ResidentMemory&) = delete;

  /// The resident memory now; raises the peaks of all that watch.
  Bytes sample();

 private:
  friend ResidentGrowth;

  int statm_;
  Bytes page_;
  std::vector<ResidentGrowth*> watching_;
};

/// The growth of the resident memory since a moment, now and at most at any sample.
class ResidentGrowth {
 public:
  explicit ResidentGrowth(ResidentMemory& memory);
  ~ResidentGrowth();
  ResidentGrowth(const ResidentGrowth&) = delete;
  ResidentGrowth& operator=(const ResidentGrowth&) = delete;

  /// Counts from now on. What the process's heap keeps free goes back first: blocks placed in pages
  /// that are already resident would not show.
  void begin();
  Bytes now() { return since_begin(memory_->sample()); }
  Bytes peak() const { return since_begin(peak_); }

 private:
  friend ResidentMemory;
  Bytes since_begin(Bytes resident) const { return resident > base_ ? resident - base_ : 0; }

  ResidentMemory* memory_;
  Bytes base_ = 0;
  Bytes peak_ = 0;
};

/// The call has just failed, with errno set.
[[noreturn]] inline void throw_system_error(std::string_view call) {
  const int code = errno;
  throw DeviceError(
      fmt::format("host: {}: {}{}", call, std::generic_category().message(code),
                  code == ENOMEM ? " (perhaps more mappings than vm.max_map_count)" : ""));
}

}  // namespace memreplay
