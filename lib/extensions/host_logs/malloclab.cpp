#include <algorithm>
#include <string_view>
#include <utility>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"

namespace memreplay {
namespace {

// Heap size, ids, operations, weight; some have ids and operations alone.
constexpr std::size_t kHeaderNumbers = 4, kFewestHeaderNumbers = 2;

bool begins_an_operation(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  return line.substr(first).find_first_of("arf") == 0;
}

std::string_view next_rep_word(std::string_view& line) {
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(first);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

/// Takes as many numbers as the line has; false at anything else.
bool take_header_line(std::string_view line, std::size_t& numbers) {
  for (std::string_view word = next_rep_word(line); !word.empty(); word = next_rep_word(line)) {
    if (numbers == kHeaderNumbers || !parse_whole(word)) return false;
    ++numbers;
  }
  return true;
}

bool is_malloclab(const Input& input) {
  const Input beginning{input.name, input.bytes.substr(0, 400)};
  LogLines lines(beginning);
  std::size_t numbers = 0;
  while (lines.next()) {
    std::string_view line = lines.line();
    if (line.empty()) continue;
    if (numbers < kFewestHeaderNumbers || !begins_an_operation(line)) {
      if (!take_header_line(line, numbers)) return false;
      continue;
    }
    const std::string_view op = next_rep_word(line), id = next_rep_word(line);
    return op.size() == 1 && (parse_whole(id) || (op == "f" && id == "-1"));
  }
  return false;
}

class MalloclabReader {
 public:
  MalloclabReader(const Input& input, const BeginEvents& begin)
      : lines_(input),
        log_(kHostMemory, input.name, begin),
        recording_(recording_of_log(input, "malloclab", "trace of the malloc lab of CS:APP")) {
    recording_.lacks = {"threads", "times", "alignments", "call sites"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about());
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    read_lines(
        lines_, log_.trace().coverage, [this] { read_line(); }, [this] { log_.is_filled(); });
    return log_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  void read_line();
  Address block(std::string_view id) const;

  LogLines lines_;
  PointerLog log_;
  Recording recording_;
  std::size_t header_ = 0;
};

/// A header of numbers, then "a ID SIZE", "r ID SIZE",
/// "f ID".
void MalloclabReader::read_line() {
  std::string_view line = lines_.line();
  const bool is_of_header =
      header_ < kFewestHeaderNumbers || (header_ < kHeaderNumbers && !begins_an_operation(line));
  if (is_of_header) {
    if (!take_header_line(line, header_))
      lines_.bad("a line", line, "a header of two to four numbers");
    return;
  }
  const std::string_view op = next_rep_word(line);
  const std::string_view id = next_rep_word(line), size = next_rep_word(line);
  if (op.empty()) return;
  if (op == "f" && size.empty()) return log_.free({}, id == "-1" ? 0 : block(id));
  if ((op != "a" && op != "r") || size.empty() || !next_rep_word(line).empty()) {
    lines_.bad("a line", lines_.line(), "'a ID SIZE', 'r ID SIZE' or 'f ID'");
  }
  const Address address = block(id);
  if (op == "a") return log_.allocate({}, address, lines_.size(size));
  // The first of a block that there is not is an allocation.
  log_.reallocate({}, log_.has({}, address) ? address : 0, address, lines_.size(size));
}

/// Ids count from 0, which as an address is none.
Address MalloclabReader::block(std::string_view id) const {
  const std::uint64_t number = lines_.whole("an id", id, "the whole number of a block");
  if (number == UINT64_MAX) lines_.bad("an id", id, "the whole number of a block");
  return number + 1;
}

}  // namespace

// The traces (.rep) of the malloc lab, as its mdriver.c reads them; later ones free -1, which is
// null.
ReaderInfo malloclab_reader() {
  return {
      .name = "malloclab",
      .summary = "A trace (.rep) of the malloc lab of CS:APP: a header of counts, then a, r and f.",
      .recognises = is_malloclab,
      .read = read_and_keep<MalloclabReader>,
      .hand_on = read_and_hand_on<MalloclabReader>,
      .stream = stream_as_read<MalloclabReader>};
}

}  // namespace memreplay
