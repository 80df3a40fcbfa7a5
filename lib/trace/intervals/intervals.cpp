#include "trace/intervals/intervals.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "trace/buffer_lifetimes.hpp"
#include "trace/log_lines.hpp"
#include "trace/pointer_log.hpp"

namespace memreplay {
namespace {

enum IntervalField : std::size_t { kIntervalStart, kIntervalEnd, kIntervalSize, kIntervalFields };
using IntervalLine = std::array<std::string_view, kIntervalFields>;

/// Three words with blanks between them; nothing of other lines.
std::optional<IntervalLine> parse_interval_line(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  IntervalLine line;
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  };
  for (std::string_view& word : line) {
    skip_blanks();
    word = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(word.size());
  }
  skip_blanks();
  return text.empty() && !line.back().empty() ? std::optional(line) : std::nullopt;
}

bool is_intervals(const Input& input) {
  constexpr std::size_t kLongestBeginning = 4000;
  const Input beginning{input.name, input.bytes.substr(0, kLongestBeginning)};
  LogLines lines(beginning);
  while (lines.next()) {
    if (lines.line().empty()) continue;
    const auto line = parse_interval_line(lines.line());
    return line && std::ranges::all_of(
                       *line, [](std::string_view word) { return parse_whole(word).has_value(); });
  }
  return false;
}

class IntervalsReader {
 public:
  explicit IntervalsReader(const Input& input)
      : lines_(input), recording_(recording_of_log(input, "intervals", "start, end and size")) {
    recording_.lacks = {"addresses",  "streams",
                        "threads",    "times but for their order",
                        "alignments", "requests that failed"};
  }

  Recording read() {
    read_lines(
        lines_, builder_.trace().coverage, [this] { read_line(); }, [] {});
    add_lifetimes(buffers_, builder_);
    recording_.traces.push_back(builder_.finish());
    return std::move(recording_);
  }

 private:
  void read_line();
  std::int64_t time(std::string_view text) const;
  void leave_out(const char* reason) {
    builder_.trace().coverage.leave_out(reason, [this] { return lines_.place(); });
  }

  LogLines lines_;
  Recording recording_;
  TraceBuilder builder_{0};
  std::vector<BufferLifetime> buffers_;
  std::uint64_t next_id_ = 0;  ///< by lines
};

void IntervalsReader::read_line() {
  const auto line = parse_interval_line(lines_.line());
  if (!line) lines_.bad("a line", lines_.line(), "START END SIZE");
  const BufferLifetime buffer{.lower = time((*line)[kIntervalStart]),
                              .upper = time((*line)[kIntervalEnd]),
                              .size = lines_.size((*line)[kIntervalSize]),
                              .id = next_id_++};
  if (buffer.upper < buffer.lower) {
    lines_.bad("an end", (*line)[kIntervalEnd], "one that is not before the start");
  }
  if (buffer.size == 0) return leave_out("buffers of size 0");
  if (buffer.upper == buffer.lower) return leave_out("buffers that are never live");
  buffers_.push_back(buffer);
}

std::int64_t IntervalsReader::time(std::string_view text) const {
  const auto time = parse_whole(text);
  if (!time || *time > std::numeric_limits<std::int64_t>::max()) {
    lines_.bad("a time", text, "a whole number below 2^63");
  }
  return static_cast<std::int64_t>(*time);
}

}  // namespace

ReaderInfo intervals_reader() {
  return {
      .name = "intervals",
      .summary = "Lifetimes of buffers as lines of start, end and size (STAlloc, allocatorSim).",
      .recognises = is_intervals,
      .read = [](const Input& input, const ReadOptions&) { return IntervalsReader(input).read(); }};
}

}  // namespace memreplay
