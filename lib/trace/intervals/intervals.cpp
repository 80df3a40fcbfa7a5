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
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  IntervalLine line;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip_blanks = [&] { at = std::find_if_not(at, end, is_blank); };
  for (std::string_view& word : line) {
    skip_blanks();
    const char* const begin = at;
    at = std::find_if(at, end, is_blank);
    word = {begin, static_cast<std::size_t>(at - begin)};
  }
  skip_blanks();
  return at == end && !line.back().empty() ? std::optional(line) : std::nullopt;
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
    reserve_at_most(buffers_, lines_.about());
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
  constexpr const char* kExpected = "a whole number below 2^63";
  const std::uint64_t time = lines_.whole("a time", text, kExpected);
  if (time > std::numeric_limits<std::int64_t>::max()) lines_.bad("a time", text, kExpected);
  return static_cast<std::int64_t>(time);
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
