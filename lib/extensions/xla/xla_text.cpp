#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/xla/xla_plan.hpp"
#include "trace/gate.hpp"
#include "trace/input.hpp"
#include "trace/log_lines.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kLiveRange = "HloLiveRange (max ";

std::string_view without_blanks(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

/// A value of no tuple may be written with an empty index or without one.
std::string_view without_empty_index(std::string_view name) {
  if (name.ends_with("{}")) name.remove_suffix(2);
  return name;
}

/// The first and the last instruction at which a value lives.
using LiveRanges = std::map<std::string_view, std::pair<std::int64_t, std::int64_t>>;

LiveRanges live_ranges(const Input& input) {
  LogLines lines(input);
  LiveRanges ranges;
  bool is_range = false;
  while (lines.next()) {
    const std::string_view line = without_blanks(lines.line());
    if (line == "BufferLiveRange:") is_range = true;
    if (line.starts_with("Live ranges at ") || line == "BufferAssignment:") break;
    const std::size_t colon = line.rfind(':');
    const std::size_t dash = line.rfind('-');
    if (!is_range || line.ends_with(':') || colon == line.npos) continue;
    const auto first = parse_whole(line.substr(colon + 1, dash - colon - 1));
    const auto last = dash == line.npos ? std::nullopt : parse_whole(line.substr(dash + 1));
    constexpr std::uint64_t kMost = UINT32_MAX;
    if (!first || !last || *last < *first || *last > kMost) {
      lines.bad("a live range", line, "NAME{INDEX}:FIRST-LAST");
    }
    ranges[without_empty_index(line.substr(0, colon))] = {static_cast<std::int64_t>(*first),
                                                          static_cast<std::int64_t>(*last)};
  }
  return ranges;
}

/// A number behind a word: "size=" in "(size=4,offset=0)".
std::optional<Bytes> number_behind(std::string_view line, std::string_view word) {
  const std::size_t at = line.rfind(word);
  if (at == line.npos) return std::nullopt;
  const std::string_view digits = line.substr(at + word.size());
  return parse_whole(digits.substr(0, digits.find_first_not_of("0123456789")));
}

struct AssignedValue {
  std::string_view name;
  Bytes size = 0;
  Bytes offset = 0;
};

/// What the text of an assignment says of the preallocated temporary buffers.
struct Assigned {
  Bytes total = 0;
  std::vector<AssignedValue> values;
  bool has_loops = false;
};

// "allocation 12: size 2388868, page 0, preallocated-temp:"
// " value: <276 copy.29 @0> (size=4,offset=2273664): s32[]"
Assigned assigned_in(const Input& input) {
  LogLines lines(input);
  Assigned assigned;
  bool is_temporary = false;
  while (lines.next()) {
    const std::string_view line = without_blanks(lines.line());
    if (line.starts_with("allocation ")) {
      is_temporary = line.find("preallocated-temp") != line.npos;
      if (!is_temporary) continue;
      const auto size = number_behind(line, ": size ");
      if (!size || *size >= kMostBytes) lines.bad("an allocation", line, "size BYTES");
      assigned.total += *size;
    } else if (is_temporary && line.starts_with("value: <")) {
      const std::size_t name = line.find(' ', std::string_view("value: <").size());
      const std::size_t end = line.find(" @", name);
      const auto size = number_behind(line, "(size="), offset = number_behind(line, ",offset=");
      if (end == line.npos || !size || !offset || *size >= kMostBytes || *offset >= kMostBytes) {
        lines.bad("a value", line, "<ID NAME @COLOUR> (size=BYTES,offset=BYTES)");
      }
      std::string_view called = line.substr(name + 1, end - name - 1);
      assigned.has_loops |= called.ends_with("(phi)");
      assigned.values.push_back({without_empty_index(called), *size, *offset});
    } else if (line.empty() || !line.starts_with("value: ")) {
      is_temporary = false;
    }
  }
  return assigned;
}

/// A value takes the place of one that ends where it begins: they are one.
std::vector<StatedBuffer> places_of(const Assigned& assigned, const LiveRanges& ranges) {
  std::vector<StatedBuffer> values;
  for (const AssignedValue& value : assigned.values) {
    const auto range = ranges.find(value.name);
    if (range == ranges.end() || value.size == 0) continue;
    values.push_back({.name = std::string(value.name),
                      .lower = range->second.first,
                      .upper = range->second.second + 1,
                      .size = value.size,
                      .planned = value.offset});
  }
  std::ranges::stable_sort(
      values, {}, [](const StatedBuffer& value) { return std::pair(value.planned, value.lower); });
  std::vector<StatedBuffer> places;
  for (StatedBuffer& value : values) {
    if (!places.empty() && places.back().planned == value.planned &&
        value.lower < places.back().upper) {
      places.back().upper = std::max(places.back().upper, value.upper);
      places.back().size = std::max(places.back().size, value.size);
    } else {
      places.push_back(std::move(value));
    }
  }
  std::ranges::stable_sort(places, {}, &StatedBuffer::lower);
  return places;
}

std::string assignment_beside(const Input& input, const ReadOptions& options) {
  if (!options.buffer_assignment.empty()) return options.buffer_assignment;
  constexpr std::string_view kEnding = "-live-range.txt";
  std::string path = input.name;
  if (path.ends_with(kEnding)) path.resize(path.size() - kEnding.size());
  path += "-buffer-assignment.txt";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return path;
  throw InputError(input.name, "",
                   "has live ranges without sizes; expected the assignment of buffers beside it "
                   "(--buffer-assignment FILE, " +
                       path + ")");
}

/// The assignment may stand behind the live ranges, else in a file of its own.
XlaPlan plan_of_texts(const Input& input, const ReadOptions& options) {
  constexpr std::string_view kHeading = "\nBufferAssignment:";
  std::optional<OpenedInput> opened;
  if (input.bytes.find(kHeading) == input.bytes.npos) {
    opened.emplace(assignment_beside(input, options));
  }
  const Input& assignment = opened ? opened->input() : input;
  const Assigned assigned = assigned_in(assignment);
  if (assigned.total == 0) {
    throw InputError(assignment.name, "",
                     "has no preallocated-temp; expected XLA's assignment of buffers with "
                     "temporary ones");
  }
  XlaPlan plan{.total = assigned.total};
  if (assigned.has_loops) {
    plan.lacks.emplace_back(
        "the lives of what loops carry, so that the plan's total is all there is (the .hlo.pb has "
        "them)");
    return plan;
  }
  plan.places = places_of(assigned, live_ranges(input));
  put_in_order(plan.places);
  return plan;
}

}  // namespace

// Two texts of XLA_FLAGS=--xla_dump_hlo_as_text (jax 0.12): when values live, and where they lie.
ReaderInfo xla_text_reader() {
  return {
      .name = "xla-text",
      .summary =
          "Live ranges of an XLA module, its assignment of buffers beside them, for "
          "plan.",
      .recognises =
          [](const Input& input) {
            const Input beginning{input.name, input.bytes.substr(0, 100)};
            LogLines lines(beginning);
            return lines.next() && lines.line().starts_with(kLiveRange);
          },
      .read =
          [](const Input& input, const ReadOptions& options) {
            return recording_of(plan_of_texts(input, options), input, "xla-text");
          },
      .stated = [](const Input& input,
                   const ReadOptions& options) { return plan_of_texts(input, options).places; }};
}

}  // namespace memreplay
