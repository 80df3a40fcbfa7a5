#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/range_set.hpp"
#include "core/text.hpp"
#include "extensions/heaps/live_heap.hpp"
#include "extensions/heaps/pprof_profile.hpp"
#include "trace/device_name.hpp"
#include "trace/log_lines.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kHeader = "heap profile:";
constexpr std::string_view kJemalloc = "heap_v2/";

bool is_heap_text(std::string_view bytes) {
  constexpr std::string_view kMarkOfUtf8 = "\xEF\xBB\xBF";
  if (bytes.starts_with(kMarkOfUtf8)) bytes.remove_prefix(kMarkOfUtf8.size());
  return bytes.starts_with(kHeader) || bytes.starts_with(kJemalloc);
}

std::string_view next_word(std::string_view& text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(first);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

/// The text of gperftools, of jemalloc and of Go before its profiles were protobufs.
class HeapText {
 public:
  explicit HeapText(const Input& input)
      : lines_(input), recording_(recording_of_log(input, "pprof", "")), heap_(recording_) {}

  Recording read() {
    recording_.lacks = {"events", "single blocks (it has sums per call site)", "addresses"};
    const bool is_whole = read_lines(
        lines_, cut_, [this] { read_line(); }, [] {});
    if (!is_whole) recording_.lacks.emplace_back(kCutOff);
    if (rows_.empty() && total_.first > 0) {
      recording_.lacks.emplace_back("call sites (it has its header alone)");
      rows_.push_back({{}, total_.first, total_.second});
    }
    for (const Row& row : rows_) add(row);
    heap_.finish(kHostMemory);
    for (Trace& trace : recording_.traces) trace.stated.sampled = rate_ > 1;
    return std::move(recording_);
  }

 private:
  void read_line();
  void read_header(std::string_view line);
  void read_row(std::string_view row);
  void read_mapping(std::string_view line);
  std::pair<std::uint64_t, Bytes> sums_of(std::string_view row);

  struct Row {
    std::string_view calls;
    std::uint64_t blocks = 0;
    Bytes bytes = 0;
  };
  void add(const Row& row);
  bool is_allocators(std::string_view call) const;

  LogLines lines_;
  Recording recording_;
  LiveHeap heap_;
  Coverage cut_;
  bool is_jemalloc_ = false;
  bool is_over_ = false;
  bool is_mapped_ = false;                 ///< the lines say what is mapped where
  bool has_stack_ = false;                 ///< perhaps one without calls
  std::uint64_t rate_ = 1;                 ///< bytes from one sample to the next, in the mean
  std::pair<std::uint64_t, Bytes> total_;  ///< blocks and bytes, as the header says
  std::string_view calls_;                 ///< the latest
  std::vector<Row> rows_;
  std::vector<AddressRange> allocators_;  ///< code of the library that allocates
};

void HeapText::read_line() {
  std::string_view line = lines_.line();
  if (recording_.detail.empty()) return read_header(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (is_mapped_) return read_mapping(line);
  is_mapped_ = line.starts_with("MAPPED_LIBRARIES");
  is_over_ |= is_mapped_ || line.starts_with("# runtime.MemStats");
  if (is_over_ || line.empty() || line.starts_with('#')) return;
  if (!is_jemalloc_) return read_row(line);
  if (line.starts_with('@')) return read_row(line);
  // "t*: 3: 4096 [0: 0]" is the sum of all threads, "t1: …" one of them.
  if (!line.starts_with("t*: ")) return;
  if (has_stack_) return read_row(line.substr(4));
  total_ = sums_of(line.substr(4));
}

/// "heap profile: 2: 4608 [ 9: 9000] @ heapz_v2/524288", "heap_v2/524288"
void HeapText::read_header(std::string_view line) {
  is_jemalloc_ = line.starts_with(kJemalloc);
  const std::size_t at = line.find('@');
  const std::string kind(is_jemalloc_ ? line : line.substr(std::min(at + 1, line.size())));
  if (!is_jemalloc_ && at == line.npos) lines_.bad("a header", line, "a heap profile");
  if (kind.find("growth") != kind.npos) {
    lines_.fail("is a profile of the growth of the heap; expected one of what is in use");
  }
  if (!is_jemalloc_) total_ = sums_of(line.substr(kHeader.size(), at - kHeader.size()));
  recording_.detail = fmt::format("heap profile of {}, for pprof",
                                  is_jemalloc_ ? "jemalloc" : "gperftools (tcmalloc)");
  const std::size_t slash = kind.find('/');
  if (slash != kind.npos) rate_ = parse_whole(kind.substr(slash + 1)).value_or(1);
  if (kind.find(" heap/") != kind.npos) rate_ /= 2;  // Go before its profiles were protobufs
  if (rate_ > 1) {
    recording_.lacks.push_back(fmt::format(
        "exact figures (they are told from samples, one in {} bytes)", human_count(rate_)));
  }
}

/// "2: 4096 [9: 9000] @ 0x10 0x20"; of jemalloc the stack stands in a line before the sums.
void HeapText::read_row(std::string_view row) {
  const std::size_t at = row.find('@');
  if (at != row.npos) {
    calls_ = row.substr(at + 1);
    has_stack_ = true;
    if (is_jemalloc_) return;
  }
  const auto [blocks, bytes] = sums_of(row.substr(0, at));
  rows_.push_back({calls_, blocks, bytes});
}

/// "7f36f5a09000-7f36f5aaf000 r-xp 00009000 fe:00 1488 /usr/lib/libjemalloc.so.2"
void HeapText::read_mapping(std::string_view line) {
  const std::size_t dash = line.find('-'), blank = line.find(' ');
  const std::string_view file = line.substr(line.rfind('/') + 1);
  if (dash > blank || blank == line.npos || file.find("malloc") == file.npos) return;
  allocators_.push_back({lines_.hexadecimal("a mapping", line.substr(0, dash)),
                         lines_.hexadecimal("a mapping", line.substr(dash + 1, blank - dash - 1))});
}

bool HeapText::is_allocators(std::string_view call) const {
  Address at = 0;
  if (call.starts_with("0x")) call.remove_prefix(2);
  const auto read = std::from_chars(call.data(), call.data() + call.size(), at, 16);
  if (read.ec != std::errc() || read.ptr != call.data() + call.size()) return false;
  return std::ranges::any_of(
      allocators_, [at](const AddressRange& code) { return code.from <= at && at < code.to; });
}

/// A block of so many bytes is sampled with the probability 1 - exp(-bytes / rate), so that those
/// that were stand for more, by the mean size at their place: as jeprof and pprof tell it. Calls
/// inside of the allocator say nothing of who asks.
void HeapText::add(const Row& row) {
  std::vector<std::uint32_t> stack;
  std::string_view calls = row.calls, rest = row.calls;
  while (is_allocators(next_word(rest))) calls = rest;
  if (calls.find_first_not_of(" \t") == calls.npos) calls = row.calls;
  for (std::string_view call = next_word(calls); !call.empty(); call = next_word(calls)) {
    stack.push_back(heap_.frame(call));
  }
  double stands_for = 1;
  if (rate_ > 1 && row.blocks > 0 && row.bytes > 0) {
    const auto bytes = static_cast<double>(row.bytes), blocks = static_cast<double>(row.blocks);
    stands_for = -1 / std::expm1(-bytes / blocks / static_cast<double>(rate_));
  }
  const auto all = [stands_for](std::uint64_t sampled) {
    return stands_for == 1 ? sampled : bytes_of(static_cast<double>(sampled) * stands_for + .5);
  };
  heap_.add(kHostMemory, all(row.bytes), all(row.blocks), heap_.stack(std::move(stack)));
}

/// "2: 4096 [9: 9000]"
std::pair<std::uint64_t, Bytes> HeapText::sums_of(std::string_view row) {
  std::string_view rest = row;
  std::string_view count = next_word(rest);
  const std::string_view bytes = next_word(rest);
  if (!count.ends_with(':')) lines_.bad("a row", row, "'COUNT: BYTES [COUNT: BYTES] @ CALLS'");
  count.remove_suffix(1);
  return {lines_.whole("a count", count, "a whole number"), lines_.size(bytes)};
}

/// A protobuf: what Go, jemalloc's and Rust's tools and JAX write.
Recording read_profile(const Input& input) {
  Recording recording = recording_of_log(input, "pprof", "heap profile, for pprof");
  recording.lacks = {"events", "single blocks (it has sums per call site)", "addresses"};
  const PprofProfile profile = parse_pprof(input);
  const PprofValues values = values_in_use(input, profile);
  // JAX names devices, and the code of its executables lies on them, too.
  const bool is_of_devices = std::ranges::any_of(
      profile.samples, [](const PprofSample& sample) { return !sample.device.empty(); });
  if (is_of_devices) recording.detail = "JAX's device memory profile";
  LiveHeap heap(recording);
  int latest = is_of_devices ? 0 : kHostMemory;
  std::vector<std::vector<std::uint32_t>> frames(profile.locations.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (const PprofLine& line : profile.locations[i].lines) {
      frames[i].push_back(heap.frame(line.name, line.file, line.line == 0 ? kNoLine : line.line));
    }
    if (frames[i].empty()) {
      frames[i].push_back(heap.frame(fmt::format("0x{:x}", profile.locations[i].address)));
    }
  }
  Bytes code = 0;
  std::uint64_t programs = 0;
  for (const PprofSample& sample : profile.samples) {
    const Bytes bytes = sample.values[values.bytes];
    const std::uint64_t count = values.count ? sample.values[*values.count] : 1;
    if (sample.kind == kExecutable && sample.device.empty()) {
      code = std::min(code + bytes, kMostBytes);
      programs = std::min(programs + count, std::uint64_t{kMostBytes});
      continue;
    }
    if (!sample.device.empty()) latest = device_named(sample.device);
    std::vector<std::uint32_t> stack;
    for (const std::size_t location : sample.locations) {
      // Inlined calls make a stack longer than its locations.
      if (stack.size() >= LiveHeap::kDeepest) break;
      stack.insert(stack.end(), frames[location].begin(), frames[location].end());
    }
    if (stack.empty() && !sample.kind.empty()) stack.push_back(heap.frame(sample.kind));
    heap.add(latest, bytes, count, heap.stack(std::move(stack)));
  }
  if (programs > 0) {
    recording.detail +=
        fmt::format("; {} more are the code of {} compiled program{} (executable), of no device",
                    human_size(code), human_count(programs), programs == 1 ? "" : "s");
  }
  heap.finish(latest);
  return recording;
}

}  // namespace

// Text: gperftools 2.x (heap-profile-table.cc), jemalloc 4 and 5 (prof_data.c, heap_v2), Go up to
// 1.8; protobuf: github.com/google/pprof/proto/profile.proto, also JAX's memory.prof.
ReaderInfo pprof_reader() {
  return {.name = "pprof",
          .summary =
              "A heap profile for pprof (gperftools, jemalloc, Go, JAX's memory.prof): what "
              "is live, by call site; it has no events.",
          .recognises =
              [](const Input& input) {
                return is_heap_text(input.bytes) || is_pprof_protobuf(input.bytes);
              },
          .read =
              [](const Input& input, const ReadOptions&) {
                return is_heap_text(input.bytes) ? HeapText(input).read() : read_profile(input);
              }};
}

}  // namespace memreplay
