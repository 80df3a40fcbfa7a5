#pragma once

#include <cstdint>
#include <optional>

#include "analysis/explain/question.hpp"
#include "analysis/run/question.hpp"

namespace memreplay {

/// Pictures of what happens, and why.
struct PageQuestion {
  ReplayQuestion replay;              ///< its setup's points of curves count, too
  ExplainQuestion explain;            ///< how long settings that help are searched for
  std::optional<std::uint64_t> from;  ///< events [from, to) are shown in full; unset: as many as
  std::optional<std::uint64_t> to;    ///< a page takes
};

}  // namespace memreplay
