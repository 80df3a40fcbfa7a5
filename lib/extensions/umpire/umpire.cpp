#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/nsight/sqlite_file.hpp"
#include "extensions/umpire/umpire_line.hpp"
#include "trace/csv_rows.hpp"
#include "trace/gate.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/process_choice.hpp"
#include "trace/reader.hpp"
#include "trace/text_numbers.hpp"

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

constexpr std::string_view kUmpireTable = "EVENTS";

/// Its own log as a database has one table, of one column, the JSON of each event.
bool is_umpire_database(std::string_view bytes) {
  constexpr std::size_t kSchema = 4096;
  return is_sqlite(bytes) && bytes.substr(0, kSchema).find("TABLE EVENTS") != bytes.npos;
}

/// The lines that the log would have as a text.
std::string lines_of_database(const Input& input) {
  const SqliteFile file(input);
  if (file.columns_of(std::string(kUmpireTable)) != std::vector<std::string>{"EVENT"}) {
    throw InputError(input.name, "", "has no table EVENTS of Umpire's, with a column EVENT");
  }
  std::string lines;
  SqliteQuery query(file, fmt::format("SELECT EVENT FROM {} ORDER BY rowid", kUmpireTable));
  while (query.next()) {
    lines += query.text(0);
    lines += '\n';
  }
  return lines;
}

bool is_umpire(const Input& input) {
  if (is_umpire_database(input.bytes)) return true;
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

/// Where the memory of a resource is; unset where the name is none that Umpire gives.
std::optional<int> device_of_resource(std::string_view name) {
  if (name == "PINNED") return kPinnedMemory;
  if (name == "UM") return kManagedMemory;
  for (const std::string_view host : {"HOST", "SHARED", "FILE"}) {
    if (name == host || name.starts_with(std::string(host) + "::")) return kHostMemory;
  }
  constexpr std::string_view kNumbered = "::";
  const std::size_t end = std::min(name.find(kNumbered), name.size());
  const std::string_view kind = name.substr(0, end);
  if (kind != "DEVICE" && kind != "DEVICE_CONST") return std::nullopt;
  if (end == name.size()) return 0;
  const auto number = parse_whole(name.substr(end + kNumbered.size()));
  return number && *number < kMostDevices ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

class UmpireReader {
 public:
  UmpireReader(const Input& input, const ReadOptions& options, BeginDevice begin)
      : input_(input),
        lines_(input),
        processes_(options),
        begin_(std::move(begin)),
        recording_(recording_of_log(input, "umpire", "Umpire's replay log")) {
    recording_.lacks = {"streams", "threads", "alignments"};
  }

  void read_all() {
    while (lines_.next()) {
      if (is_passed_over(lines_.line())) continue;
      if (const auto line = parse_umpire_line(lines_.line())) {
        read(*line);
      } else if (lines_.is_whole()) {
        lines_.fail(fmt::format("is not a JSON object; {}", kExpectedLine));
      } else {
        left_out_.leave_out(kCutOff, [&] { return lines_.place(); });
      }
    }
    left_out_.leave_out(
        "allocations without a result (failed, or cut off)", [&] { return lines_.place(); },
        asked_ - std::min(asked_, answered_));
    if (const std::string missing = processes_.tell(recording_); !missing.empty()) {
      lines_.fail(missing);
    }
    finish();
  }
  Recording take() { return std::move(recording_); }

 private:
  struct Allocator {
    std::optional<std::uint64_t> heap;  ///< once it was used
    std::uint32_t name = 0;             ///< a text
    int device = 0;
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
  void fill_columns(const UmpireLine& line, const Allocator& of, std::uint32_t tag);
  void make_allocator(const UmpireLine& line);
  Allocator& allocator(const UmpireLine& line);
  /// Its number among those of its device.
  PointerPlace place_of(Allocator& of) {
    if (!of.heap) of.heap = heaps_[of.device]++;
    return {.heap = *of.heap};
  }
  PointerLog& log_of(int device);
  void finish();

  const Input& input_;
  LogLines lines_;
  ProcessChoice processes_;
  BeginDevice begin_;
  std::map<int, std::unique_ptr<PointerLog>> logs_;
  std::map<int, std::uint64_t> heaps_;  ///< allocators that were used, by device
  Coverage left_out_;                   ///< belongs to no device in particular
  Recording recording_;
  std::unordered_map<std::string, Allocator> allocators_;
  std::unordered_map<std::string, int> devices_;  ///< by the name of a resource or an allocator
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
  if (!processes_.takes(line.process)) {
    return left_out_.leave_out("lines of other processes", [&] { return lines_.place(); });
  }
  try {
    call(line);
  } catch (const std::length_error& error) {
    lines_.fail(error.what());
  }
}

void UmpireReader::call(const UmpireLine& line) {
  if (line.name.starts_with("make")) {
    // The first generation announces it before it is made.
    if (!address_of_allocator(line).empty()) make_allocator(line);
  } else if (line.name == "allocate" || line.name == "named_allocate") {
    allocate(line);
  } else if (line.name == "deallocate") {
    if (reallocation_) reallocation_->shows = true;
    Allocator& from = allocator(line);
    log_of(from.device).free(place_of(from), lines_.address(line.pointer));
    fill_columns(line, from, from.name);
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
  Allocator& from = allocator(line);
  log_of(from.device)
      .allocate(place_of(from), lines_.address(is_first ? line.result : line.pointer),
                lines_.size(line.size));
  fill_columns(line, from, line.block_name.empty() ? from.name : texts_.number_of(line.block_name));
}

void UmpireReader::reallocate(const UmpireLine& line) {
  if (line.result.empty()) {
    reallocation_ = {.from = lines_.address(line.pointer), .size = lines_.size(line.size)};
    return;
  }
  const auto done = std::exchange(reallocation_, std::nullopt);
  if (!done || done->shows) return;
  // The resource itself made the block longer or shorter: no other line tells of it.
  Allocator& from = allocator(line);
  log_of(from.device)
      .reallocate(place_of(from), done->from, lines_.address(line.result), done->size);
  fill_columns(line, from, from.name);
}

void UmpireReader::fill_columns(const UmpireLine& line, const Allocator& of, std::uint32_t tag) {
  constexpr std::int64_t kNanoseconds = 1000;
  const auto time = parse_whole(line.timestamp);
  if (!time || *time > INT64_MAX) {
    lines_.bad("timestamp", line.timestamp, "nanoseconds as a whole number");
  }
  PointerLog& log = log_of(of.device);
  log.fill<&Trace::times_us>(static_cast<std::int64_t>(*time) / kNanoseconds);
  log.fill<&Trace::tags>(tag);
  log.is_filled();
}

PointerLog& UmpireReader::log_of(int device) {
  std::unique_ptr<PointerLog>& log = logs_[device];
  if (log) return *log;
  log = std::make_unique<PointerLog>(device, input_.name, begin_of(begin_, device));
  log->tell_places([this] { return lines_.place(); });
  // How many of the lines are of it is not known; a device alone gets them all.
  if (logs_.size() == 1) log->expect(lines_.about(), &Trace::times_us, &Trace::tags);
  return *log;
}

// A log in which nothing was allocated has a trace without events.
void UmpireReader::finish() {
  Coverage& coverage = (logs_.empty() ? log_of(0) : *logs_.begin()->second).trace().coverage;
  coverage.dropped.merge(left_out_.dropped);
  coverage.first_places.merge(left_out_.first_places);
  for (auto& [device, log] : logs_) {
    Recording part;
    log->finish(part);
    recording_.traces.push_back(std::move(part.traces.front()));
  }
}

/// What a pool is made of says where its memory is.
void UmpireReader::make_allocator(const UmpireLine& line) {
  Allocator& made = allocator(line);
  if (line.allocator_name.empty()) return;
  std::string name(line.allocator_name);
  if (line.name == "make_memory_resource" || line.name == "makeMemoryResource") {
    made.device = device_of_resource(name).value_or(kHostMemory);
  } else if (const auto parent = devices_.find(std::string(line.parent));
             parent != devices_.end()) {
    made.device = parent->second;
  } else {
    made.device = device_of_resource(line.parent).value_or(made.device);
  }
  devices_[std::move(name)] = made.device;
}

UmpireReader::Allocator& UmpireReader::allocator(const UmpireLine& line) {
  const std::string_view address = address_of_allocator(line);
  if (address.empty()) lines_.fail("has no allocator_ref; expected the address of an allocator");
  // Each process has addresses of its own.
  std::string name = processes_.is_merged() ? std::string(line.process) + ' ' : std::string();
  name += address;
  const auto [known, is_new] = allocators_.try_emplace(std::move(name));
  if (!line.allocator_name.empty()) known->second.name = texts_.number_of(line.allocator_name);
  return known->second;
}

Recording read_umpire(const Input& input, const ReadOptions& options) {
  if (is_umpire_database(input.bytes)) {
    const std::string lines = lines_of_database(input);
    Recording recording = read_umpire({.name = input.name, .bytes = lines}, options);
    recording.detail += ", a SQLite database";
    return recording;
  }
  UmpireReader reader(input, options, {});
  reader.read_all();
  return reader.take();
}

/// The file is read twice: which devices there are shows at its end. Unset where none has events,
/// and for a database, which is read whole.
std::optional<Recording> stream_umpire(const Input& input, const ReadOptions& options,
                                       const BeginEvents& begin) {
  if (is_umpire_database(input.bytes)) return std::nullopt;
  DeviceNumbers numbers;
  UmpireReader(input, options, numbers.counting()).read_all();
  if (numbers.empty()) return std::nullopt;
  UmpireReader reader(input, options, numbers.handing_on(begin));
  reader.read_all();
  Recording recording = reader.take();
  numbers.finish(recording);
  return recording;
}

Recording hand_on_umpire(const Input& input, const ReadOptions& options, const BeginEvents& begin) {
  auto recording = stream_umpire(input, options, begin);
  return recording ? std::move(*recording) : read_umpire(input, options);
}

}  // namespace

/// Umpire's replay logs of both generations, a JSON object a line: a trace for each kind of memory
/// (HOST, PINNED, UM, DEVICE::n), of which its allocators are the pools. What a pool asks of its
/// parent is not logged; an allocator that the log does not make counts for gpu 0.
ReaderInfo umpire_reader() {
  return {.name = "umpire",
          .summary =
              "Umpire's replay log of either generation: a JSON object a line, or the same as "
              "a SQLite database.",
          .recognises = is_umpire,
          .read = read_umpire,
          .hand_on = hand_on_umpire,
          .stream =
              [](const Input& input, const ReadOptions& options, const BeginEvents& begin) {
                return stream_umpire(input, options, begin).has_value();
              },
          .has_processes = true};
}

}  // namespace memreplay
