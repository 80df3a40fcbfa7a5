#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "core/oom_message.hpp"
#include "extensions/messages/packed_text.hpp"
#include "extensions/messages/pattern.hpp"

namespace memreplay {

/// OomWord::backend of a tensor on the host.
inline constexpr std::string_view kHostBackend = "CPU";

/// Where a message lies in a packed text: up to the next one, or as far as one goes.
struct MessageSpan {
  std::string_view packed;
  std::size_t from = 0;
  std::size_t to = 0;

  /// The first match of a pattern within it.
  std::optional<PatternMatch> find(const Pattern& pattern) const {
    return pattern.find(packed, from, to);
  }
  bool says(const Pattern& pattern) const { return find(pattern).has_value(); }
  /// Up to `most` characters before it.
  std::string_view before(std::size_t most) const {
    return packed.substr(from - std::min(from, most), std::min(from, most));
  }
};

/// A message, and the line that it begins in.
struct FoundMessage {
  OomMessage message;
  std::uint64_t line = 0;
};

/// One kind of message, as it registers itself (messages.def).
struct MessageKind {
  std::string_view name;
  std::string_view detail;           ///< for people: "PyTorch's OOM message"
  std::vector<Pattern> starts;       ///< a message begins with one of these
  std::vector<Pattern> fields = {};  ///< what it says
  /// Completes a message from its words and figures; one whose kind it clears is none. May be null.
  void (*complete)(OomMessage&, const MessageSpan&) = nullptr;
  /// Adds a message to the one before it, where both are parts of the same one; else false. Null:
  /// none has parts.
  bool (*join)(OomMessage& before, const OomMessage& after) = nullptr;
  /// No figures: counts only where no other failure is near.
  bool is_bare = false;
  /// Tells what there is, of itself no failure.
  bool is_state = false;
  std::string_view type = {};          ///< OomWord::type of its messages; empty: they say
  std::vector<Pattern> harmless = {};  ///< says, right after it, that nothing failed
  /// Reads a whole text instead, where messages of the kind are many lines.
  void (*read)(const PackedText&, std::vector<FoundMessage>&) = nullptr;
};

/// Every registered kind, in the order of registration.
std::span<const MessageKind> message_kinds();

/// For MessageKind::join: adds what is not there yet; false where the two contradict each other.
bool add_missing(OomMessage& before, const OomMessage& after);
/// For MessageKind::join: what comes later replaces what was there.
bool replace_all(OomMessage& before, const OomMessage& after);

/// Every message about memory in a text, in its order. `first_only`: one is enough.
std::vector<OomMessage> messages_in(std::string_view text, bool first_only = false);

/// Whether something in a text failed, was killed or ended badly; a line that says itself that it
/// is no failure does not count. O(size).
bool shows_failure(std::string_view text);
/// Whether its program worked: a server answers, steps go on, a report says so. O(size).
bool shows_success(std::string_view text);
/// Where its program runs, by paths and names.
Platform platform_of(std::string_view text);

/// Puts together what several messages say of the same failure, and counts those that say the same.
void put_together(std::vector<OomMessage>& messages);

}  // namespace memreplay
