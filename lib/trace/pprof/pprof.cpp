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
#include "trace/device_name.hpp"
#include "trace/live_heap.hpp"
#include "trace/log_lines.hpp"
#include "trace/pointer_log.hpp"
#include "trace/pprof/pprof_profile.hpp"
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
    if (!has_rows_ && total_.first > 0) {
      recording_.lacks.emplace_back("call sites (it has its header alone)");
      heap_.add(kHostMemory, total_.second, total_.first, 0);
    }
    heap_.finish(kHostMemory);
    return std::move(recording_);
  }

 private:
  void read_line();
  void read_header(std::string_view line);
  void read_row(std::string_view row);
  std::pair<std::uint64_t, Bytes> sums_of(std::string_view row);

  LogLines lines_;
  Recording recording_;
  LiveHeap heap_;
  Coverage cut_;
  bool is_jemalloc_ = false;
  bool is_over_ = false;
  bool has_stack_ = false;  ///< perhaps one without calls
  bool has_rows_ = false;
  std::pair<std::uint64_t, Bytes> total_;  ///< blocks and bytes, as the header says
  std::vector<std::uint32_t> stack_;       ///< the latest
};

void HeapText::read_line() {
  std::string_view line = lines_.line();
  if (recording_.detail.empty()) return read_header(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  is_over_ |= line.starts_with("MAPPED_LIBRARIES") || line.starts_with("# runtime.MemStats");
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
  const std::uint64_t rate =
      slash == kind.npos ? 1 : parse_whole(kind.substr(slash + 1)).value_or(1);
  if (rate > 1) {
    recording_.lacks.push_back(
        fmt::format("blocks that were not sampled (one in {} bytes was)", human_count(rate)));
  }
}

/// "2: 4096 [9: 9000] @ 0x10 0x20"; of jemalloc the stack stands in a line before the sums.
void HeapText::read_row(std::string_view row) {
  const std::size_t at = row.find('@');
  std::string_view sums = row.substr(0, at), calls = at == row.npos ? "" : row.substr(at + 1);
  if (at != row.npos) {
    stack_.clear();
    for (std::string_view call = next_word(calls); !call.empty(); call = next_word(calls)) {
      stack_.push_back(heap_.frame(call));
    }
    has_stack_ = true;
    if (is_jemalloc_) return;
  }
  const auto [blocks, bytes] = sums_of(sums);
  has_rows_ = true;
  heap_.add(kHostMemory, bytes, blocks, heap_.stack(stack_));
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
  for (const PprofSample& sample : profile.samples) {
    if (!sample.device.empty()) latest = device_named(sample.device);
    std::vector<std::uint32_t> stack;
    for (const std::size_t location : sample.locations) {
      stack.insert(stack.end(), frames[location].begin(), frames[location].end());
    }
    if (stack.empty() && !sample.kind.empty()) stack.push_back(heap.frame(sample.kind));
    heap.add(latest, sample.values[values.bytes], values.count ? sample.values[*values.count] : 1,
             heap.stack(std::move(stack)));
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
