#include "trace/umpire/umpire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "trace/csv/csv_rows.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/process_choice.hpp"
#include "trace/text_numbers.hpp"
#include "trace/umpire/umpire_line.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kExpectedLine = "expected an object of Umpire's replay log";

bool is_passed_over(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == line.npos || line[first] == '#';
}

std::string_view address_of_allocator(const UmpireLine& line) {
  return line.allocator.empty() ? line.resource : line.allocator;
}

bool is_umpire(const Input& input) {
  constexpr std::size_t kLongestBeginning = 64 << 10;
  const Input beginning{input.name, input.bytes.substr(0, kLongestBeginning)};
  LogLines lines(beginning);
  while (lines.next()) {
    if (is_passed_over(lines.line())) continue;
    const auto line = parse_umpire_line(lines.line());
    return line && !line->name.empty() && (line->kind == "replay" || !line->category.empty());
  }
  return false;
}

class UmpireReader {
 public:
  UmpireReader(const Input& input, const ReadOptions& options, const BeginEvents& begin)
      : lines_(input),
        processes_(options),
        log_(0, input.name, begin),
        recording_(recording_of_log(input, "umpire", "Umpire's replay log")) {
    recording_.lacks = {"streams", "threads", "alignments"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about(), &Trace::times_us, &Trace::tags);
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    while (lines_.next()) {
      if (is_passed_over(lines_.line())) continue;
      if (const auto line = parse_umpire_line(lines_.line())) {
        read(*line);
      } else if (lines_.is_whole()) {
        lines_.fail(fmt::format("is no JSON object; {}", kExpectedLine));
      } else {
        log_.leave_out(kCutOff);
      }
    }
    log_.leave_out("allocations without a result (failed, or cut off)",
                   asked_ - std::min(asked_, answered_));
    if (const std::string missing = processes_.tell(recording_); !missing.empty()) {
      lines_.fail(missing);
    }
    return log_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  struct Allocator {
    std::uint64_t heap = 0;
    std::uint32_t name = 0;  ///< a text
  };
  /// A call that is under way: what it does is in the lines of other calls, or in none.
  struct Reallocation {
    Address from = 0;
    Bytes size = 0;
    bool shows = false;  ///< calls in it were logged
  };

  void read(const UmpireLine& line);
  void call(const UmpireLine& line);
  void allocate(const UmpireLine& line);
  void reallocate(const UmpireLine& line);
  void fill_columns(const UmpireLine& line, std::uint32_t tag);
  Allocator& allocator(const UmpireLine& line);

  LogLines lines_;
  ProcessChoice processes_;
  PointerLog log_;
  Recording recording_;
  std::unordered_map<std::string, Allocator> allocators_;
  TextNumbers texts_{recording_.texts};
  std::optional<Reallocation> reallocation_;
  std::uint64_t asked_ = 0;     ///< lines of the first generation that announce an allocation
  std::uint64_t answered_ = 0;  ///< and those that say what it gave
};

void UmpireReader::read(const UmpireLine& line) {
  if (line.name.empty() || (line.category.empty() && line.kind.empty())) {
    lines_.fail(fmt::format("has no name of an event; {}", kExpectedLine));
  }
  if (line.is_first_generation() ? line.kind != "replay" : line.category != "operation") return;
  if (!processes_.takes(line.process)) return log_.leave_out("lines of other processes");
  try {
    call(line);
  } catch (const std::length_error& error) {
    lines_.fail(error.what());
  }
  log_.is_filled();
}

void UmpireReader::call(const UmpireLine& line) {
  if (line.name.starts_with("make")) {
    // The first generation announces it before it is made.
    if (!address_of_allocator(line).empty()) allocator(line);
  } else if (line.name == "allocate" || line.name == "named_allocate") {
    allocate(line);
  } else if (line.name == "deallocate") {
    if (reallocation_) reallocation_->shows = true;
    const Allocator& from = allocator(line);
    log_.free({.heap = from.heap}, lines_.address(line.pointer));
    fill_columns(line, from.name);
  } else if (line.name == "reallocate") {
    reallocate(line);
  }
}

void UmpireReader::allocate(const UmpireLine& line) {
  const bool is_first = line.is_first_generation();
  if (is_first && line.result.empty()) {
    ++asked_;
    return;
  }
  if (is_first) ++answered_;
  if (reallocation_) reallocation_->shows = true;
  const Allocator& from = allocator(line);
  log_.allocate({.heap = from.heap}, lines_.address(is_first ? line.result : line.pointer),
                lines_.size(line.size));
  fill_columns(line, line.block_name.empty() ? from.name : texts_.number_of(line.block_name));
}

void UmpireReader::reallocate(const UmpireLine& line) {
  if (line.result.empty()) {
    reallocation_ = {.from = lines_.address(line.pointer), .size = lines_.size(line.size)};
    return;
  }
  const auto done = std::exchange(reallocation_, std::nullopt);
  if (!done || done->shows) return;
  // The resource itself made the block longer or shorter: no other line tells of it.
  const Allocator& from = allocator(line);
  log_.reallocate({.heap = from.heap}, done->from, lines_.address(line.result), done->size);
  fill_columns(line, from.name);
}

void UmpireReader::fill_columns(const UmpireLine& line, std::uint32_t tag) {
  constexpr std::int64_t kNanoseconds = 1000;
  const auto time = parse_whole(line.timestamp);
  if (!time || *time > INT64_MAX) {
    lines_.bad("timestamp", line.timestamp, "nanoseconds as a whole number");
  }
  log_.fill<&Trace::times_us>(static_cast<std::int64_t>(*time) / kNanoseconds);
  log_.fill<&Trace::tags>(tag);
}

UmpireReader::Allocator& UmpireReader::allocator(const UmpireLine& line) {
  const std::string_view address = address_of_allocator(line);
  if (address.empty()) lines_.fail("has no allocator_ref; expected the address of an allocator");
  // Each process has addresses of its own.
  std::string name = processes_.is_merged() ? std::string(line.process) + ' ' : std::string();
  name += address;
  const auto [known, is_new] =
      allocators_.try_emplace(std::move(name), Allocator{.heap = allocators_.size()});
  if (!line.allocator_name.empty()) known->second.name = texts_.number_of(line.allocator_name);
  return known->second;
}

}  // namespace

ReaderInfo umpire_reader() {
  return {.name = "umpire",
          .summary = "Umpire's replay log of either generation: a JSON object a line.",
          .recognises = is_umpire,
          .read = read_and_keep<UmpireReader>,
          .hand_on = read_and_hand_on<UmpireReader>,
          .stream = stream_as_read<UmpireReader>,
          .has_processes = true};
}

}  // namespace memreplay
