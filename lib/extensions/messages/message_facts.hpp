#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "questions/explain/answer.hpp"

/// What the phrases about a message, and the advice on it, ask of it.

namespace memreplay {

inline std::string size_of(const ExplainedMessage& e, Figure figure) {
  return human_size(e.message[figure].value_or(RoundedBytes{}).bytes);
}

inline std::string spare(const ExplainedMessage& e) {
  return human_size(static_cast<Bytes>(std::llabs(e.room.value_or(0))));
}

inline bool is_bfc(const ExplainedMessage& e) { return e.message.kind == "bfc"; }
inline bool is_torch(const ExplainedMessage& e) { return e.message.kind == "torch"; }
/// A failure that is judged by its figures; the other kinds say themselves what it is.
inline bool is_judged(const ExplainedMessage& e) {
  const bool report = !e.message.harmless && e.message[OomWord::type] != "statistics";
  return is_torch(e) || (is_bfc(e) && report);
}

// "Shortage" or, where the figures are too round to be certain, "Probably a shortage"
inline std::string head(const ExplainedMessage& e, const char* sure, const char* unsure) {
  return e.sure ? sure : fmt::format("Probably {}", unsure);
}

// The request, where that is what is beyond any size.
inline bool asks_for_nonsense(const ExplainedMessage& e) {
  return !e.message.overflows.empty() && !e.message[Figure::requested];
}

/// Nearly all of what is reserved is live: no setting gains more than the rest.
inline bool is_full(const ExplainedMessage& e) {
  const OomMessage& m = e.message;
  return is_torch(e) && m[Figure::live] && m[Figure::reserved] && m[Figure::reserved]->bytes > 0 &&
         m[Figure::live]->bytes / 99 >= m[Figure::reserved]->bytes / 100;
}
inline bool others_hold_most(const ExplainedMessage& e) {
  const auto& device = e.message[Figure::device];
  return is_torch(e) && device && e.others && *e.others > device->bytes / 2;
}

inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace memreplay
