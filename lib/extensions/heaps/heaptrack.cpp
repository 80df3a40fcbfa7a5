#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/heaps/heaptrack_places.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/read_numbers.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

/// "v VERSION FORMAT", hexadecimal.
bool is_heaptrack(const Input& input) {
  const Input beginning{input.name, input.bytes.substr(0, 80)};
  LogLines lines(beginning);
  if (!lines.next() || !lines.line().starts_with("v ") || lines.line().size() < 3) return false;
  return lines.line().substr(2).find_first_not_of("0123456789abcdef ") == std::string_view::npos &&
         lines.line()[2] != ' ';
}

/// What takes the place of the address of a block of a kind.
Address stand_in(std::uint64_t kind, std::uint64_t serial) {
  constexpr int kBlocksOfAKind = 36;
  return ((kind + 1) << kBlocksOfAKind) + serial;
}

class HeaptrackReader {
 public:
  HeaptrackReader(const Input& input, const BeginEvents& begin)
      : lines_(input),
        log_(kHostMemory, input.name, begin),
        recording_(recording_of_log(input, "heaptrack", "heaptrack recording")),
        places_(recording_) {
    recording_.lacks = {"streams", "threads", "alignments", "requests that failed"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about(), &Trace::stacks, &Trace::times_us);
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    read_lines(
        lines_, log_.trace().coverage, [this] { read_line(); },
        [this] {
          do {
            log_.is_filled();
          } while (read_short_line());
        });
    if (!kinds_.empty()) {
      recording_.detail =
          "heaptrack recording, interpreted: no addresses, of equal blocks the oldest is freed "
          "first";
      recording_.lacks.emplace_back("addresses");
    }
    if (unsure_frees_ > 0) {
      log_.is_unsure();
      recording_.lacks.push_back(fmt::format("which of several equal blocks a free is for ({})",
                                             human_count(unsure_frees_)));
    }
    return log_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  /// Allocations of one size at one place: an interpreted file tells no more of a block.
  struct Kind {
    Bytes size = 0;
    std::uint64_t call = 0;
    std::uint32_t stack = 0;  ///< the call's stack, once it was asked for
    std::uint64_t allocated = 0;
    std::uint64_t freed = 0;
    Slot oldest = kNoSlot;  ///< the oldest live one, unless left out
    Slot newest = kNoSlot;
  };

  void read_line();
  bool read_short_line();
  void read_any_line();
  void take_line(char kind);
  [[noreturn]] void bad_line() const;
  void read_numbers(std::string_view text);
  void expect_numbers(std::size_t least) const;
  void read_version();
  void read_text();
  void read_call();
  void allocate();
  void free();
  void allocate(Kind& kind, std::uint64_t number);
  void free(Kind& kind, std::uint64_t number);
  void allocate(Address address, Bytes size, std::uint64_t call);
  void add_kind();
  Kind& kind(std::uint64_t number);
  void fill_columns(std::uint32_t stack);
  void pass_time();

  LogLines lines_;
  PointerLog log_;
  Recording recording_;
  HeaptrackPlaces places_;
  std::vector<std::uint64_t> numbers_;  ///< numbers in the line
  std::vector<Kind> kinds_;
  std::vector<Slot> next_;  ///< by slot: the block of the kind that was allocated next
  std::uint64_t format_ = 0;
  bool is_interpreted_ = false;     ///< texts and instructions were named
  std::uint64_t unsure_frees_ = 0;  ///< which of several like blocks they mean is not said
  std::int64_t time_us_ = 0;
};

void HeaptrackReader::read_numbers(std::string_view text) {
  numbers_.clear();
  while (!text.empty()) {
    std::uint64_t number = 0;
    std::size_t digits = read_hexadecimal(text, number);
    if (digits == 0 || (digits < text.size() && text[digits] != ' ')) {
      digits = std::min(text.find(' '), text.size());
      number = lines_.hexadecimal("a number", text.substr(0, digits));
    }
    numbers_.push_back(number);
    text.remove_prefix(std::min(digits + 1, text.size()));
  }
}

void HeaptrackReader::expect_numbers(std::size_t least) const {
  if (numbers_.size() < least) {
    lines_.bad("a line", lines_.line(), "more numbers, as heaptrack writes it");
  }
}

void HeaptrackReader::read_line() {
  try {
    read_any_line();
  } catch (const std::out_of_range& error) {
    lines_.fail(error.what());
  }
}

void HeaptrackReader::read_any_line() {
  const std::string_view line = lines_.line();
  switch (line.front()) {
    case 'x':
    case 'X':
    case 'I':
    case 'm':
    case 'R':
    case 'S':
    case '#':
      return;
    case 's':
      return read_text();
    case 'A':
      if (line == "A") return log_.lacks("blocks from before heaptrack was attached");
      bad_line();
    case 'v':
    case 'i':
    case 't':
    case 'a':
    case '+':
    case '-':
    case 'c':
      break;
    default:
      bad_line();
  }
  if (line.size() < 3 || line[1] != ' ') bad_line();
  read_numbers(line.substr(2));
  take_line(line.front());
}

void HeaptrackReader::take_line(char kind) {
  switch (kind) {
    case 'v':
      return read_version();
    case 'i':
      expect_numbers(2);
      is_interpreted_ = true;
      return places_.add_instruction(numbers_[0], numbers_[1], std::span(numbers_).subspan(2));
    case 't':
      return read_call();
    case 'a':
      return add_kind();
    case '+':
      return allocate();
    case '-':
      return free();
    default:
      return pass_time();
  }
}

void HeaptrackReader::bad_line() const {
  lines_.bad("a line", lines_.line(), "one that heaptrack writes");
}

void HeaptrackReader::read_version() {
  constexpr std::uint64_t kNewest = 3;
  if (numbers_.size() > 1) format_ = numbers_[1];
  if (format_ > kNewest) lines_.bad("a version", lines_.line(), "a format of 3 or below");
}

/// "s TEXT", from format 3 on "s LENGTH TEXT".
void HeaptrackReader::read_text() {
  constexpr std::uint64_t kWithLength = 3;
  std::string_view text = lines_.line().substr(std::min<std::size_t>(lines_.line().size(), 2));
  if (format_ >= kWithLength) {
    text.remove_prefix(std::min(text.find(' '), text.size()));
    if (!text.empty()) text.remove_prefix(1);
  }
  is_interpreted_ = true;
  places_.add_text(text);
}

void HeaptrackReader::read_call() {
  expect_numbers(2);
  if (is_interpreted_) {
    places_.add_call(numbers_[0], numbers_[1]);
  } else {
    places_.add_raw_call(numbers_[0], numbers_[1]);
  }
}

void HeaptrackReader::add_kind() {
  expect_numbers(2);
  lines_.check_size(numbers_[0], lines_.line());
  kinds_.push_back({.size = numbers_[0], .call = numbers_[1]});
}

HeaptrackReader::Kind& HeaptrackReader::kind(std::uint64_t number) {
  if (number >= kinds_.size()) {
    lines_.bad("an allocation", lines_.line(), "one that a line before describes");
  }
  return kinds_[number];
}

[[gnu::always_inline]] inline void HeaptrackReader::allocate(Kind& kind, std::uint64_t number) {
  if (kind.stack == 0) kind.stack = places_.stack_of(kind.call);
  const Slot slot = log_.begin_block(kind.size, stand_in(number, kind.allocated++));
  fill_columns(kind.stack);
  if (slot == kNoSlot) return;
  if (slot >= next_.size()) next_.resize(slot + std::size_t{1});
  // No branch for it: whether there are others cannot be foreseen.
  Slot* const place = kind.oldest == kNoSlot ? &kind.oldest : &next_[kind.newest];
  *place = slot;
  kind.newest = slot;
}

[[gnu::always_inline]] inline void HeaptrackReader::free(Kind& kind, std::uint64_t number) {
  const std::uint64_t live = kind.allocated - kind.freed;
  if (live == 0) return log_.free({}, stand_in(number, kind.freed));  // a block from before
  unsure_frees_ += live > 1;
  const Slot slot = kind.oldest;
  log_.end_block(slot, kind.size, stand_in(number, kind.freed++));
  fill_columns(0);
  if (slot != kNoSlot) kind.oldest = slot == kind.newest ? kNoSlot : next_[slot];
}

/// Reads the next line, if it is "+ KIND" or "- KIND", as nearly all are, and nothing is new about
/// it; else nothing has been done.
bool HeaptrackReader::read_short_line() {
  constexpr std::size_t kNumber = 2;
  constexpr std::size_t kMostDigits = 5;  // with the characters around them eight
  constexpr std::uint64_t kAllocates = '+' | ' ' << 8, kFrees = '-' | ' ' << 8;
  const std::uint64_t text = eight_characters(lines_.rest());
  const std::uint64_t call = text & 0xFFFF;
  if (call != kAllocates && call != kFrees) return false;
  std::uint64_t number = 0;
  const std::size_t digits = read_short_hexadecimal(text >> 8 * kNumber, number);
  if (digits - 1 >= kMostDigits || (text >> 8 * (kNumber + digits) & 0xFF) != '\n') return false;
  if (number >= kinds_.size() || kinds_[number].stack == 0) return false;
  lines_.pass(kNumber + digits + 1);
  call == kAllocates ? allocate(kinds_[number], number) : free(kinds_[number], number);
  return true;
}

void HeaptrackReader::allocate(Address address, Bytes size, std::uint64_t call) {
  lines_.check_size(size, lines_.line());
  const std::uint32_t stack = places_.stack_of(call);
  const std::size_t before = log_.size();
  log_.allocate({}, address, size);
  if (log_.size() > before + 1) log_.trace().stacks.push_back(0);  // for a free that was added
  fill_columns(stack);
}

void HeaptrackReader::allocate() {
  if (numbers_.size() >= 3) return allocate(numbers_[2], numbers_[0], numbers_[1]);
  expect_numbers(1);
  allocate(kind(numbers_[0]), numbers_[0]);
}

void HeaptrackReader::free() {
  expect_numbers(1);
  if (kinds_.empty()) {
    log_.free({}, numbers_[0]);
  } else {
    free(kind(numbers_[0]), numbers_[0]);
  }
  fill_columns(0);
}

void HeaptrackReader::fill_columns(std::uint32_t stack) {
  log_.fill<&Trace::stacks>(stack);
  log_.fill<&Trace::times_us>(time_us_);
}

/// "c MILLISECONDS", now and then.
void HeaptrackReader::pass_time() {
  constexpr std::int64_t kMicroseconds = 1000;
  constexpr auto kLatest = static_cast<std::uint64_t>(kMostTime / kMicroseconds);
  expect_numbers(1);
  if (numbers_[0] > kLatest) lines_.bad("a time", lines_.line(), "milliseconds since the start");
  time_us_ = static_cast<std::int64_t>(numbers_[0]) * kMicroseconds;
}

}  // namespace

/// heaptrack's files: raw ones, and interpreted ones, which have no addresses. There the oldest of
/// several like blocks is freed first.
ReaderInfo heaptrack_reader() {
  return {.name = "heaptrack",
          .summary = "heaptrack's recording, raw or interpreted.",
          .recognises = is_heaptrack,
          .read = read_and_keep<HeaptrackReader>,
          .hand_on = read_and_hand_on<HeaptrackReader>,
          .stream = stream_as_read<HeaptrackReader>};
}

}  // namespace memreplay
