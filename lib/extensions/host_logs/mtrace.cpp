#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/gpu_label.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"
#include "trace/text_numbers.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kMtraceStart = "= Start";
constexpr std::string_view kMtraceEnd = "= End";

/// "@ PLACE OP POINTER SIZE", where a free and the first half of a reallocation have no size.
struct MtraceLine {
  std::string_view place;  ///< empty where the line has none
  char op = 0;
  std::string_view pointer;
  std::string_view size;
};

std::string_view take_last_word(std::string_view& rest) {
  const std::size_t blank = rest.rfind(' ');
  const std::string_view word = rest.substr(blank + 1);  // npos + 1 is 0
  rest = rest.substr(0, blank == rest.npos ? 0 : blank);
  return word;
}

bool is_op(std::string_view word, std::string_view ops) {
  return word.size() == 1 && ops.find(word.front()) != ops.npos;
}

/// From the right, as a place may have blanks in it.
std::optional<MtraceLine> parse_mtrace_line(std::string_view text) {
  MtraceLine line;
  const std::string_view last = take_last_word(text);
  const std::string_view before = take_last_word(text);
  if (is_op(before, "-<")) {
    line.op = before.front();
    line.pointer = last;
  } else {
    const std::string_view op = take_last_word(text);
    if (!is_op(op, "+>!")) return std::nullopt;
    line.op = op.front();
    line.pointer = before;
    line.size = last;
  }
  if (!text.empty() && !text.starts_with("@ ")) return std::nullopt;
  line.place = text.substr(text.empty() ? 0 : 2);
  return line;
}

bool is_mtrace(const Input& input) {
  const Input beginning{input.name, input.bytes.substr(0, 80)};
  LogLines lines(beginning);
  return lines.next() && lines.line() == kMtraceStart;
}

class MtraceReader {
 public:
  MtraceReader(const Input& input, const BeginEvents& begin)
      : lines_(input),
        log_(kHostMemory, input.name, begin),
        recording_(recording_of_log(input, "mtrace", "glibc's mtrace log")) {
    recording_.lacks = {"threads", "times", "alignments"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about(), &Trace::tags);
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    const bool is_whole = read_lines(
        lines_, log_.trace().coverage, [this] { read_line(); }, [this] { log_.is_filled(); });
    if (is_whole && moved_from_) log_.leave_out(kCutOff);
    return log_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  void read_line();
  void call(const MtraceLine& line);
  Bytes size(std::string_view text) const;

  LogLines lines_;
  PointerLog log_;
  Recording recording_;
  bool has_start_ = false;
  bool is_over_ = false;               ///< after "= End", where anything may stand
  std::optional<Address> moved_from_;  ///< set by a reallocation whose other half comes next
  TextNumbers places_{recording_.texts};
};

void MtraceReader::read_line() {
  const std::string_view line = lines_.line();
  if (line == kMtraceStart || line == kMtraceEnd) {
    has_start_ = true;
    is_over_ = line == kMtraceEnd;
    return;
  }
  if (is_over_) return;
  if (!std::exchange(has_start_, true)) {
    recording_.lacks.emplace_back("its beginning");
    log_.is_unsure();
  }
  const auto parsed = parse_mtrace_line(line);
  if (!parsed) lines_.bad("a line", line, "one that mtrace writes");
  if (moved_from_.has_value() != (parsed->op == '>')) {
    lines_.bad("a line", line, "a line with '>' after each with '<', and nowhere else");
  }
  call(*parsed);
  const bool asks = parsed->op != '-' && log_.lacks<&Trace::tags>();
  log_.fill<&Trace::tags>(asks ? places_.number_of(parsed->place) : 0);
}

void MtraceReader::call(const MtraceLine& line) {
  const Address pointer = lines_.address(line.pointer);
  switch (line.op) {
    case '-':
      return log_.free({}, pointer);
    case '<':
      moved_from_ = pointer;
      return;
    case '>': {
      const Bytes bytes = size(line.size);
      lines_.check_size(bytes, line.size);
      return log_.reallocate({}, *std::exchange(moved_from_, std::nullopt), pointer, bytes);
    }
    default: {
      const Bytes bytes = size(line.size);
      if (line.op == '+' && pointer != 0) {
        lines_.check_size(bytes, line.size);
        return log_.allocate({}, pointer, bytes);
      }
      if (bytes < kMostBytes) return log_.refuse({}, bytes);
      return log_.leave_out("requests of 1 EiB and more, which failed");
    }
  }
}

/// Hexadecimal; a size that failed may be any.
Bytes MtraceReader::size(std::string_view text) const {
  if (text == "0") return 0;
  if (!text.starts_with("0x")) lines_.bad("a size", text, "0, or 0x and hexadecimal digits");
  return lines_.hexadecimal("a size", text.substr(2));
}

}  // namespace

/// What glibc's mtrace() writes to the file that MALLOC_TRACE names.
ReaderInfo mtrace_reader() {
  return {.name = "mtrace",
          .summary = "The log of glibc's mtrace(): malloc, realloc and free.",
          .recognises = is_mtrace,
          .read = read_and_keep<MtraceReader>,
          .hand_on = read_and_hand_on<MtraceReader>,
          .stream = stream_as_read<MtraceReader>};
}

}  // namespace memreplay
