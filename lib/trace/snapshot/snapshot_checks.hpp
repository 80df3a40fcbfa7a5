#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/snapshot/snapshot_words.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {

/// The place of a value in a snapshot, for messages: "device_traces[0][12].size".
struct SnapshotPath {
  const SnapshotPath* up = nullptr;
  std::string_view key;  ///< empty: an index
  std::size_t index = 0;
};

/// A whole number of a snapshot: any 64-bit one, signed or not. `huge`: beyond that.
struct WholeNumber {
  std::uint64_t bits = 0;  ///< two's complement where negative
  bool negative = false;
  bool huge = false;

  static WholeNumber of(std::int64_t value) {
    return {static_cast<std::uint64_t>(value), value < 0, false};
  }
};

enum class ValueKind : std::uint8_t { none, boolean, whole, real, text, list, dict, other };

/// Throws InputError "FILE: PATH is GOT; expected EXPECTED".
[[noreturn]] void refuse_value(std::string_view file, const SnapshotPath& at, std::string_view got,
                               std::string_view expected);
[[noreturn]] void refuse_missing(std::string_view file, const SnapshotPath& at,
                                 std::string_view expected);
/// Throws InputError "FILE: not a PyTorch snapshot: WHY".
[[noreturn]] void refuse_snapshot(std::string_view file, std::string_view why);

std::string describe(WholeNumber number);
std::string describe(double number);
/// A text for messages: quoted, one line, shortened.
std::string describe(std::string_view text);
std::string_view describe(ValueKind kind);

/// The keys seen in each part of a snapshot, as sets of Word.
struct SnapshotEvidence {
  std::uint64_t top = 0, segment = 0, block = 0, entry = 0, settings = 0;
};

/// What an entry with these keys shows of the release. `memreplay record` writes markers with
/// metadata under any.
constexpr std::uint64_t evidence_in(std::uint64_t keys, TorchAction action) {
  if (action == TorchAction::snapshot) keys &= ~bit_of(Word::user_metadata);
  return action == TorchAction::annotate ? keys | bit_of(Word::annotate) : keys;
}

/// The oldest release that writes these keys, as "2.12"; empty when they do not say.
std::string oldest_release(const SnapshotEvidence& seen);

}  // namespace memreplay
