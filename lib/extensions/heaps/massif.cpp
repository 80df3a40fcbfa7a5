#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/heaps/live_heap.hpp"
#include "trace/log_lines.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

bool is_massif(const Input& input) {
  const Input beginning{input.name, input.bytes.substr(0, 4096)};
  LogLines lines(beginning);
  bool has_unit = false;
  for (int i = 0; i < 8 && lines.next(); ++i) {
    has_unit |= lines.line().starts_with("time_unit: ");
    if (i == 0 && !lines.line().starts_with("desc:")) return false;
    if (has_unit && lines.line().starts_with("#---")) return true;
  }
  return has_unit;
}

/// A node of a tree: bytes, and who asked for them.
struct MassifNode {
  std::uint64_t children = 0;
  Bytes bytes = 0;
  std::string_view place;
};

/// One state of the program.
struct MassifState {
  Bytes heap = 0;
  Bytes extra = 0;
  Bytes stacks = 0;
  bool is_peak = false;
  std::vector<std::pair<std::size_t, MassifNode>> tree = {};  ///< with their depths, in order

  Bytes all() const { return heap + extra + stacks; }
};

class MassifReader {
 public:
  explicit MassifReader(const Input& input)
      : lines_(input), recording_(recording_of_log(input, "massif", "")) {}

  Recording read() {
    while (lines_.next()) {
      const std::string_view line = lines_.line();
      if (line.starts_with("snapshot=")) {
        take_state();
        ++count_;
        state_.emplace();
      } else if (state_ && !line.empty()) {
        read_line(line);
      }
    }
    take_state();
    if (!best_) lines_.fail("has no snapshot; expected the output of Valgrind's massif");
    return recording();
  }

 private:
  void read_line(std::string_view line);
  MassifNode node(std::string_view text) const;
  /// The peak as massif marks it; else the largest state, where possible one with a tree.
  void take_state() {
    if (!state_) return;
    const auto rank = [](const MassifState& state) {
      return std::tuple(state.is_peak, state.all(), !state.tree.empty());
    };
    if (!best_ || rank(*state_) > rank(*best_)) best_ = std::move(state_);
    state_.reset();
  }
  Recording recording();

  LogLines lines_;
  Recording recording_;
  std::optional<MassifState> state_, best_;
  std::uint64_t count_ = 0;
};

void MassifReader::read_line(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  const std::size_t equals = line.find('=');
  if (indent != line.npos && line[indent] == 'n' && equals > line.find(':')) {
    return state_->tree.emplace_back(indent, node(line.substr(indent))), void();
  }
  const std::string_view key = line.substr(0, equals);
  const auto value = [&] { return lines_.size(line.substr(equals + 1)); };
  if (key == "mem_heap_B") state_->heap = value();
  if (key == "mem_heap_extra_B") state_->extra = value();
  if (key == "mem_stacks_B") state_->stacks = value();
  if (key == "heap_tree") state_->is_peak = line.substr(equals + 1) == "peak";
}

/// "n2: 1024 0x1091C0: main (m.c:4)", "n0: 1024 in 3 places, all below massif's threshold (1.00%)"
MassifNode MassifReader::node(std::string_view text) const {
  const std::size_t colon = text.find(": ");
  const auto children = parse_whole(text.substr(1, colon - 1));
  if (colon == text.npos || !children) lines_.bad("a node of a tree", text, "n, a number, ':'");
  const std::string_view rest = text.substr(colon + 2);
  const std::size_t blank = std::min(rest.find(' '), rest.size());
  return {*children, lines_.size(rest.substr(0, blank)),
          rest.substr(std::min(blank + 1, rest.size()))};
}

/// A leaf ends a stack whose outermost frame it is; the root is that of all stacks, and no place.
Recording MassifReader::recording() {
  recording_.detail =
      fmt::format("Valgrind's massif output, {} state{}, of which this is the {}", count_,
                  count_ == 1 ? "" : "s", best_->is_peak ? "peak" : "largest");
  if (best_->extra > 0) {
    recording_.detail +=
        fmt::format("; {} more for administration and rounding", human_size(best_->extra));
  }
  if (best_->stacks > 0) {
    recording_.detail += fmt::format("; {} of stacks", human_size(best_->stacks));
  }
  recording_.lacks = {"events",
                      "single blocks (each entry is a call site, with the sum of its blocks)",
                      "addresses"};
  LiveHeap heap(recording_);
  std::vector<std::uint32_t> path;
  Bytes told = 0;
  for (const auto& [depth, node] : best_->tree) {
    path.resize(std::min(path.size(), depth > 0 ? depth - 1 : 0));
    if (depth > 0) path.push_back(heap.frame(node.place));
    if (node.children > 0 || (depth == 0 && best_->tree.size() > 1)) continue;
    heap.add(kHostMemory, node.bytes, 1, heap.stack(path));
    told += node.bytes;
  }
  // A tree may be cut off, or leave out what is small.
  if (told < best_->heap) heap.add(kHostMemory, best_->heap - told, 1, 0);
  heap.finish(kHostMemory);
  recording_.traces.back().stated.at_peak = true;
  return std::move(recording_);
}

}  // namespace

// Valgrind 3.3 to 3.24 and heaptrack_print -M write it (massif/ms_main.c): states of the heap, some
// with a tree of call sites. The recording is the state at the peak.
ReaderInfo massif_reader() {
  return {
      .name = "massif",
      .summary = "Valgrind's massif: the state at its peak, by call site; it has no events.",
      .recognises = is_massif,
      .read = [](const Input& input, const ReadOptions&) { return MassifReader(input).read(); }};
}

}  // namespace memreplay
