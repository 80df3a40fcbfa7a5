#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "trace/reader.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Which process of a log is read: the one that is asked for, all of them, or the first.
class ProcessChoice {
 public:
  explicit ProcessChoice(const ReadOptions& options);

  /// To be asked for each event, in order: false where its process is left out.
  bool takes(std::string_view process);
  bool takes(std::uint64_t process) {
    return process == latest_ ? takes_latest_ : takes_another(process);
  }
  bool is_merged() const { return is_merged_; }

  /// After all events: tells in the recording which of several processes it is of. What to say
  /// where the one that was asked for is not there; empty where it is.
  std::string tell(Recording& recording) const;

 private:
  bool takes_another(std::uint64_t process);

  std::optional<std::string> chosen_;
  bool is_merged_;
  std::set<std::string, std::less<>> processes_;
  std::optional<std::uint64_t> latest_;  ///< the last one asked for by its number
  bool takes_latest_ = false;
};

}  // namespace memreplay
