#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// A buffer as files of lifetimes state it: live in [lower, upper), in the file's own time.
struct StatedBuffer {
  /// During [from, to) only its bytes [low, high) are in use, none where they are equal.
  struct Gap {
    std::int64_t from = 0;
    std::int64_t to = 0;
    Bytes low = 0;
    Bytes high = 0;

    friend bool operator==(const Gap&, const Gap&) = default;
  };
  std::string name;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  Bytes size = 0;
  Bytes alignment = 1;          ///< power of two
  std::optional<Bytes> offset;  ///< where it must lie; unset: anywhere
  std::vector<Gap> gaps;        ///< ascending, apart, inside its life
  /// Where the planner put it whose file it is; unset: not known, or `offset`.
  std::optional<Bytes> planned = {};

  friend bool operator==(const StatedBuffer&, const StatedBuffer&) = default;
};

/// Whether files of the format state lifetimes of buffers.
bool states_lifetimes(std::string_view format);

/// The buffers of such a file, which its events do not tell all of. Throws what its reader throws,
/// and UsageError for what is no file: it is read twice.
std::vector<StatedBuffer> stated_buffers(const std::string& path, const ReadOptions& options);

}  // namespace memreplay
