#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"
#include "trace/text_numbers.hpp"

namespace memreplay {
namespace {

enum StallocField : std::size_t { kStatus, kPointer, kBlockSize, kHandle, kStallocFields };
using StallocLine = std::array<std::string_view, kStallocFields>;

/// Unset where the line does not begin as one that tells of a block.
std::optional<StallocLine> parse_stalloc_line(std::string_view text) {
  if (!text.starts_with("0 ") && !text.starts_with("1 ")) return std::nullopt;
  StallocLine line;
  for (std::string_view& field : line) {
    field = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
  }
  return text.empty() && !line.back().empty() ? std::optional(line) : std::nullopt;
}

/// Where an iteration, a micro-batch or a layer begins or ends.
bool is_phase_mark(std::string_view line) {
  return line.starts_with("Iteration Index : ") || line.find(" Layer : ") != line.npos ||
         (line.find("micro-batch") != line.npos && line.find(": ") != line.npos);
}

bool is_stalloc(const Input& input) {
  constexpr std::size_t kLongestBeginning = 64 << 10;
  const Input beginning{input.name, input.bytes.substr(0, kLongestBeginning)};
  LogLines lines(beginning);
  bool any = false;
  while (lines.next()) {
    if (is_phase_mark(lines.line())) {
      any = true;
    } else if (const auto line = parse_stalloc_line(lines.line())) {
      const std::string_view pointer = (*line)[kPointer];
      return (pointer == "0" || pointer.starts_with("0x")) &&
             parse_whole((*line)[kBlockSize]).has_value();
    } else if (!lines.line().empty()) {
      return any && !lines.is_whole();
    }
  }
  return any;
}

class StallocReader {
 public:
  StallocReader(const Input& input, const BeginEvents& begin, const EarlierPointers& earlier)
      : lines_(input),
        log_(device_in_name(input.name), input.name, begin),
        recording_(recording_of_log(input, "stalloc", "STAlloc's log")) {
    recording_.lacks = {"threads", "times", "alignments", "sizes of requests that failed"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about(), &Trace::tags);
    log_.begin_with(earlier);
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    read_lines(
        lines_, log_.trace().coverage, [this] { read_line(); }, [this] { log_.is_filled(); });
    return log_.finish(recording_);
  }
  EarlierPointers earlier() const { return log_.earlier(); }
  Recording take() { return std::move(recording_); }

 private:
  void read_line();
  void call(const StallocLine& line);
  std::uint64_t stream(std::string_view text) const;

  LogLines lines_;
  PointerLog log_;
  Recording recording_;
  TextNumbers texts_{recording_.texts};
};

void StallocReader::read_line() {
  if (const auto line = parse_stalloc_line(lines_.line())) {
    call(*line);
    log_.fill<&Trace::tags>(0u);
  } else if (is_phase_mark(lines_.line())) {
    log_.mark();
    log_.fill<&Trace::tags>(texts_.number_of(lines_.line()));
  } else {
    lines_.bad("a line", lines_.line(), "STATUS POINTER SIZE STREAM, or the mark of a phase");
  }
}

void StallocReader::call(const StallocLine& line) {
  const Address pointer = lines_.address(line[kPointer]);
  const Bytes size = lines_.size(line[kBlockSize]);
  const PointerPlace place{.stream = stream(line[kHandle])};
  if (line[kStatus] == "1") {
    // An empty tensor is written like a refused request.
    pointer == 0 ? log_.leave_out("allocations that failed") : log_.allocate(place, pointer, size);
  } else {
    log_.free(place, pointer, size);
  }
}

std::uint64_t StallocReader::stream(std::string_view text) const {
  if (text.starts_with("0x")) return lines_.hexadecimal("a stream", text.substr(2));
  return lines_.whole("a stream", text, "a whole number, or 0x and hexadecimal digits");
}

}  // namespace

/// STAlloc's mem_log_devN.txt: "STATUS POINTER SIZE STREAM", and marks of iterations, micro-batches
/// and layers between them.
ReaderInfo stalloc_reader() {
  return {
      .name = "stalloc",
      .summary = "STAlloc's log: status, pointer, size and stream, and marks of phases.",
      .recognises = is_stalloc,
      .read = [](const Input& input, const ReadOptions&) { return read_log<StallocReader>(input); },
      .hand_on = [](const Input& input, const ReadOptions&,
                    const BeginEvents& begin) { return read_log<StallocReader>(input, begin); },
      .stream = [](const Input& input, const ReadOptions&,
                   const BeginEvents& begin) { return stream_log<StallocReader>(input, begin); }};
}

}  // namespace memreplay
