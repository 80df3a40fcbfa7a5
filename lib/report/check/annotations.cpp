#include <fmt/format.h>

#include <algorithm>

#include "report/check/phrases.hpp"
#include "report/parts/recording_advice.hpp"

namespace memreplay {
namespace {

/// GitHub shows ten errors of a step.
constexpr std::size_t kPlaces = 3;
/// A line that explains less of what grew is not annotated.
constexpr Bytes kLeastPart = 10;

std::string escaped(const std::string& text, bool in_property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (in_property && c == ':') {
      out += "%3A";
    } else if (in_property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string annotation(const CodeLine* at, const std::string& title, const std::string& message) {
  std::string properties;
  if (at != nullptr) {
    properties = fmt::format("file={},line={},", escaped(at->file, true), at->line);
  }
  return fmt::format("::error {}title={}::{}\n", properties, escaped(title, true),
                     escaped(message, false));
}

// What is over its limit, in one sentence for all of an entry.
std::string failures(const EntryCheck& entry) {
  std::string text;
  for (const CheckedValue& value : entry.values) {
    if (entry.passes(value)) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", value.metric->word,
                        bounded(value_phrase(value), entry.early_end.has_value()));
    const std::string place = place_phrase(value);
    if (!place.empty()) text += ", " + place;
  }
  if (entry.early_end) text += "; " + early_end_phrase(*entry.early_end);
  return text;
}

}  // namespace

std::string to_github(const CheckAnswer& answer) {
  std::string out;
  for (const EntryCheck& entry : answer.entries) {
    if (entry.passed()) continue;
    const std::string title = "memory of " + entry_phrase(entry);
    std::size_t said = 0;
    Bytes whole = 0;
    for (const PlaceGrowth& growth : entry.grown) whole += growth.grown;
    for (const PlaceGrowth& growth : entry.grown) {
      const auto at = entry.code.find(growth.place);
      if (at == entry.code.end() || said == kPlaces || growth.grown < whole / kLeastPart) continue;
      ++said;
      out += annotation(&at->second, title, growth_phrase(growth) + ": " + failures(entry));
    }
    if (said == 0) out += annotation(nullptr, title, failures(entry));
  }
  for (const NotChecked& file : answer.failed) {
    out += annotation(nullptr, file.path + " is not checked", file.message);
  }
  return out;
}

}  // namespace memreplay
