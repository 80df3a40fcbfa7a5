#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "program/trace_summary.hpp"
#include "report/parts/facts.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// A text that grows line by line, laid out for a style.
class Sheet {
 public:
  explicit Sheet(const TextStyle& style) : style_(style) {}

  const TextStyle& style() const { return style_; }
  std::size_t width() const { return style_.width; }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

  /// As it is.
  Sheet& operator+=(std::string_view text) {
    text_ += text;
    return *this;
  }
  Sheet& operator+=(char c) {
    text_ += c;
    return *this;
  }

 private:
  TextStyle style_;
  std::string text_;
};

/// Appends a text as lines, each after `indent` blanks. What follows a line break in it is a
/// command: on a line of its own, never broken. An empty text adds nothing. In Markdown it is one
/// line and an empty one.
void append_paragraph(Sheet& out, std::string_view text, std::size_t indent = 1);

void append_table(Sheet& out, const Table& table);

/// Says an answer again at the end of a text that has scrolled it away; `before` lines were there.
void append_answer_again(Sheet& out, std::string_view answer, std::size_t before = 0);

/// As a shell takes it for one word, quoted where it must be.
std::string shell_word(std::string_view text);
/// A file's path as a shell and a program take it: none begins like an option.
std::string path_word(std::string_view path);

/// No request is in the recording: there is nothing to replay.
inline bool requests_nothing(const TraceSummary& trace) { return trace.allocs + trace.ooms == 0; }

/// What to record next time instead of a recording that starts late. `larger_before`: it misses the
/// program's largest step.
std::string better_recording(bool larger_before);

/// How a PyTorch program is recorded with its history: "record: torch…"
std::string how_to_record(const TraceSummary& trace);

/// Why a recording without a request answers nothing, and how to make one that does.
std::string nothing_requested_sentence(const TraceSummary& trace);
/// nothing_requested_sentence as the only remark, where `nothing` is requested; else none.
inline std::vector<std::string> nothing_requested_remarks(const TraceSummary& trace, bool nothing) {
  if (!nothing) return {};
  return {nothing_requested_sentence(trace)};
}

/// "Memory grows by 16 MiB a step: train.py:31 run, since step 3 (event 53)." Empty where nothing
/// worth a word grows.
std::string leak_sentence(const TraceSummary& trace);
/// What a device is worth then: "At this rate the device of 650 MiB is full after 2 more steps at
/// the latest."
std::string full_sentence(Bytes room, std::uint64_t steps);
/// Both, and what mends it, where memory ran out.
std::string leak_sentences(const TraceSummary& trace, const std::optional<Bytes>& room);

/// "pool (0, 1), up to 20 GiB": those of a pluggable allocator.
std::string pluggable_pools_phrase(const TraceSummary& trace);

/// Says that these may have slept, and what figures are because of it. Empty where there are none.
std::string pluggable_pools_sentence(const TraceSummary& trace);

/// The commands by which a program that ran out of memory is changed to fit, a line each. `path` is
/// its recording, `capacity` that of the device, where it is known.
std::string other_program_sentence(const std::string& path, const std::optional<Bytes>& capacity);

}  // namespace memreplay
