#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "questions/convert/minimised.hpp"
#include "run/answer.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// What does a recording become in another file?
struct ConvertQuestion {
  InputOptions input;                        ///< one path
  std::optional<StrategySpec> strategy;      ///< unset: as recorded
  std::optional<MinimiseQuestion> minimise;  ///< unset: the whole recording
  Setup setup;                               ///< how it is replayed
  bool anonymise = false;
  bool with_addresses = true;  ///< the target holds them; a replay gives those that are missing
  bool one_device = false;     ///< the target holds no more
};

struct Control;
struct Recording;

/// What another file is to hold of a recording, and what it cannot.
struct ConvertAnswer {
  /// Something that a snapshot may hold and a recording does not.
  struct LeftOut {
    std::string what;  ///< "entries with …"
    std::uint64_t count = 0;
  };
  std::string path;                            ///< the file that was read
  std::shared_ptr<const Recording> recording;  ///< to be written; null: interrupted before
  std::vector<LeftOut> left_out;
  std::vector<Run> runs;  ///< by device, where it was replayed: what the program comes to
  std::optional<std::string> unknown_settings;  ///< left out as more than known options
  std::optional<MinimiseAnswer> minimised;      ///< unset: not asked for
  bool interrupted = false;
};

/// Reads a recording and makes of it what is to be written. Throws InputError, and UsageError where
/// the target cannot hold it.
ConvertAnswer answer(const ConvertQuestion& question, const Control& control);

}  // namespace memreplay
