#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "extensions/lifetimes/buffer_lifetimes.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/read_numbers.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

struct IntervalWord {
  std::string_view text;
  std::optional<std::uint64_t> number;  ///< value of plain digits, if not too many
};

struct IntervalLine {
  IntervalWord start, end, size;
};

/// Three words with blanks between them, into `words`; false for other lines. `rest` begins with
/// the line.
bool parse_interval_line(std::string_view line, std::string_view rest, IntervalLine& words) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t at = 0;
  for (IntervalWord* word : {&words.start, &words.end, &words.size}) {
    while (at < line.size() && is_blank(line[at])) ++at;
    std::uint64_t number = 0;
    const std::size_t digits = leading_digits(rest.substr(at), number);
    std::size_t end = at + digits;
    while (end < line.size() && !is_blank(line[end])) ++end;
    word->text = line.substr(at, end - at);
    word->number.reset();
    if (digits == word->text.size() && digits - 1 < kDigitsThatFit) word->number.emplace(number);
    at = end;
  }
  while (at < line.size() && is_blank(line[at])) ++at;
  return at == line.size() && !words.size.text.empty();
}

bool is_intervals(const Input& input) {
  constexpr std::size_t kLongestBeginning = 4000;
  const Input beginning{input.name, input.bytes.substr(0, kLongestBeginning)};
  LogLines lines(beginning);
  while (lines.next()) {
    if (lines.line().empty()) continue;
    IntervalLine line;
    return parse_interval_line(lines.line(), lines.ahead(), line) && parse_whole(line.start.text) &&
           parse_whole(line.end.text) && parse_whole(line.size.text);
  }
  return false;
}

class IntervalsReader {
 public:
  IntervalsReader(const Input& input, const BeginEvents& begin)
      : lines_(input),
        recording_(recording_of_log(input, "intervals", "start, end and size")),
        outlet_(input.name, begin) {
    recording_.lacks = {"addresses",  "streams",
                        "threads",    "times (only their order is kept)",
                        "alignments", "requests that failed"};
  }

  void read_all() {
    buffers_.reserve(lines_.about());
    read_lines(
        lines_, builder_.trace().coverage, [this] { read_line(); },
        [this] {
          while (read_plain_line()) {
          }
        });
    buffers_.add_to(builder_, outlet_);
    recording_.traces.push_back(builder_.finish());
    outlet_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  void read_line();
  bool read_plain_line();
  std::uint64_t whole(const char* what, const IntervalWord& word, const char* expected) const;
  std::int64_t time(const IntervalWord& word) const;
  void leave_out(const char* reason) {
    builder_.trace().coverage.leave_out(reason, [this] { return lines_.place(); });
  }

  LogLines lines_;
  Recording recording_;
  EventOutlet outlet_;
  TraceBuilder builder_{0};
  BufferLifetimes buffers_;
  IntervalLine line_;
  std::uint64_t next_id_ = 0;  ///< by lines
};

void IntervalsReader::read_line() {
  if (!parse_interval_line(lines_.line(), lines_.ahead(), line_)) {
    lines_.bad("a line", lines_.line(), "START END SIZE");
  }
  const std::int64_t lower = time(line_.start);
  const std::int64_t upper = time(line_.end);
  const Bytes size = whole("a size", line_.size, "bytes as a whole number");
  const std::uint64_t id = next_id_++;
  lines_.check_size(size, line_.size.text);
  if (upper < lower) lines_.bad("an end", line_.end.text, "one that is not before the start");
  if (size == 0) return leave_out("buffers of size 0");
  if (upper == lower) return leave_out("buffers that are never live");
  buffers_.add(lower, upper, {.size = size, .id = id});
}

/// Reads the next line, if it is as most are and there is nothing to say of it; else nothing has
/// been done.
bool IntervalsReader::read_plain_line() {
  constexpr std::uint64_t kLatest = std::numeric_limits<std::int64_t>::max();
  std::array<std::uint64_t, 3> numbers;
  const std::size_t characters = read_plain_numbers(lines_.rest(), ' ', numbers);
  const auto [lower, upper, size] = numbers;
  if (characters == 0 || upper > kLatest || lower >= upper) return false;
  if (size == 0 || size >= kMostBytes) return false;
  lines_.pass(characters);
  buffers_.add(static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper),
               {.size = size, .id = next_id_++});
  return true;
}

std::uint64_t IntervalsReader::whole(const char* what, const IntervalWord& word,
                                     const char* expected) const {
  return word.number ? *word.number : lines_.whole(what, word.text, expected);
}

std::int64_t IntervalsReader::time(const IntervalWord& word) const {
  constexpr const char* kExpected = "a whole number below 2^63";
  const std::uint64_t time = whole("a time", word, kExpected);
  if (time > std::numeric_limits<std::int64_t>::max()) lines_.bad("a time", word.text, kExpected);
  return static_cast<std::int64_t>(time);
}

}  // namespace

/// "START END SIZE" a line, as STAlloc's planner and allocatorSim have them: a buffer is live from
/// operation START on, and freed at END.
ReaderInfo intervals_reader() {
  return {
      .name = "intervals",
      .summary = "Lifetimes of buffers as lines of start, end and size (STAlloc, allocatorSim).",
      .recognises = is_intervals,
      .read = read_and_keep<IntervalsReader>,
      .hand_on = read_and_hand_on<IntervalsReader>};
}

}  // namespace memreplay
