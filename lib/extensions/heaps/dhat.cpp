#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/heaps/live_heap.hpp"
#include "trace/json/json_node.hpp"
#include "trace/log_lines.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNoFrame = UINT32_MAX;

Recording read_dhat(const Input& input, const ReadOptions& /*options*/) {
  const auto document =
      parse_json(input.name, std::string(input.bytes), "the output of Valgrind's DHAT");
  const JsonNode root(input.name, "", *document);
  Recording recording = recording_of_log(input, "dhat", "DHAT's output, at the peak of the heap");
  recording.lacks = {"events", "single blocks (it has sums per call site)", "addresses"};
  LiveHeap heap(recording);
  std::optional<Bytes> end;
  std::vector<std::uint32_t> frames;
  for (const JsonNode& frame : root.at("ftbl").elements()) {
    // Valgrind's own malloc stands between the program and nothing.
    const std::string place = frame.text();
    frames.push_back(place.find("/vgpreload_dhat") == place.npos ? heap.frame(place) : kNoFrame);
  }
  for (const JsonNode& point : root.at("pps").elements()) {
    if (!point.has("gb")) {
      throw InputError(input.name, point.place(),
                       "has no gb, the bytes at the peak: this mode of DHAT does not follow what "
                       "is live; expected --mode=heap");
    }
    const Bytes bytes = point.at("gb").whole();
    if (bytes >= kMostBytes) point.at("gb").refuse("less than 1 EiB");
    std::vector<std::uint32_t> stack;
    for (const JsonNode& frame : point.at("fs").elements()) {
      const std::uint64_t number = frame.whole();
      if (number >= frames.size()) frame.refuse("the number of a frame");
      const bool is_root = number == 0;
      if (!is_root && frames[number] != kNoFrame) stack.push_back(frames[number]);
    }
    if (point.has("eb")) {
      const Bytes at_end = point.at("eb").whole();
      if (at_end >= kMostBytes) point.at("eb").refuse("less than 1 EiB");
      end = end.value_or(0) + at_end;
    }
    heap.add(kHostMemory, bytes, point.has("gbk") ? point.at("gbk").whole() : 1,
             heap.stack(std::move(stack)));
  }
  heap.finish(kHostMemory);
  recording.traces.back().stated = {.at_peak = true, .end_live = end};
  return recording;
}

}  // namespace

// Valgrind 3.15 to 3.24 (dhat/dh_main.c) and Rust's crate dhat write it.
ReaderInfo dhat_reader() {
  return {.name = "dhat",
          .summary = "DHAT's output: what was live at the peak, by call site; it has no events.",
          .recognises =
              [](const Input& input) {
                return input.bytes.substr(0, 400).find("\"dhatFileVersion\"") != input.bytes.npos;
              },
          .read = read_dhat};
}

}  // namespace memreplay
