#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace memreplay::torch {

/// A release of PyTorch, and what of the allocator's behaviour depends on it.
struct Release {
  int major = 2;
  int minor = 15;
  int patch = 0;

  friend auto operator<=>(const Release&, const Release&) = default;

  /// How free blocks of equal size are ordered.
  enum class TieBreak { address, object_number, segment_number };
  TieBreak tie_break() const;

  bool has(int since_minor) const { return major > 2 || (major == 2 && minor >= since_minor); }
  std::string text() const;
};

inline constexpr Release kNewestRelease{};
inline constexpr Release kOldestRelease{2, 0, 0};  ///< recordings of earlier ones have no events

/// "2.6", "2.6.0", "2.6.0+cu124"; empty: the newest. Throws UsageError for anything else, and for
/// releases whose rules are not known.
Release parse_release(std::string_view text);

}  // namespace memreplay::torch
