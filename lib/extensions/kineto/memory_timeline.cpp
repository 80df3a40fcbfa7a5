#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/json/json_node.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using TimelineTree = nlohmann::json;

constexpr std::size_t kCategories = 8;
constexpr std::array<std::string_view, kCategories> kCategoryNames = {
    "parameters",  "optimizer state", "inputs",           "temporaries",
    "activations", "gradients",       "autograd details", "unknown category"};
using CategoryBytes = std::array<std::int64_t, kCategories>;

constexpr std::string_view kPageTitle = "<title>GPU Memory Timeline HTML</title>";

bool is_timeline_page(std::string_view bytes) {
  constexpr std::size_t kHead = 256;
  return bytes.starts_with("<html>") && bytes.substr(0, kHead).find(kPageTitle) != bytes.npos;
}

/// Lists in a list: of them the first begins with a time, or with -1 (from before the profile) and
/// the action that says so.
bool is_timeline_list(std::string_view bytes) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF", kBegin = "[[", kBefore = "-1, 1, ";
  constexpr std::size_t kDigitsOfTime = 10;
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  if (!bytes.starts_with(kBegin)) return false;
  bytes.remove_prefix(kBegin.size());
  std::uint64_t time = 0;
  return bytes.starts_with(kBefore) || bytes.starts_with("], []]") ||
         leading_digits(bytes, time) >= kDigitsOfTime;
}

/// What a timeline shows: [times, [bytes of each category after each]], or as it is named .raw.json
/// [[time, action, bytes, category] of each change].
class MemoryTimeline final : public nlohmann::json_sax<TimelineTree> {
 public:
  explicit MemoryTimeline(const Input& input) : input_(input) {
    TimelineTree::sax_parse(input.bytes, this);
  }

  std::string told() const {
    if (times_ == 0) return "PyTorch's memory timeline without a change";
    std::string text = fmt::format("PyTorch's memory timeline, {} in {:.3g} s, at most {}",
                                   human_count(times_) + (times_ == 1 ? " time" : " times"),
                                   seconds(), human_size(static_cast<Bytes>(total(peak_))));
    std::vector<std::pair<std::int64_t, std::string_view>> parts;
    for (std::size_t i = 0; i < kCategories; ++i) {
      if (peak_[i] > 0) parts.emplace_back(peak_[i], kCategoryNames[i]);
    }
    std::ranges::stable_sort(parts, std::greater(), &decltype(parts)::value_type::first);
    const char* before = ": ";
    for (const auto& [bytes, name] : parts) {
      text += fmt::format("{}{} {}", std::exchange(before, ", "), name,
                          human_size(static_cast<Bytes>(bytes)));
    }
    return text;
  }

  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("a truth value"); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > std::numeric_limits<std::int64_t>::max()) refuse("a number of 2^63 or more");
    return number(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override {
    refuse("a fraction, or too large");
  }
  bool string(string_t&) override { refuse("a text"); }
  bool binary(binary_t&) override { refuse("bytes"); }  // never in a text
  bool start_object(std::size_t) override { refuse("an object"); }
  bool key(string_t&) override { return false; }
  bool end_object() override { return false; }
  bool start_array(std::size_t) override {
    if (++depth_ > kOfRow) refuse("a list in a list of sizes");
    numbers_.clear();
    if (depth_ == kOfList) ++lists_;
    if (lists_ > 2 && is_by_category_) refuse("a third list");
    if (depth_ != kOfRow) return true;
    if (lists_ != 2) refuse("a list among numbers");
    is_by_category_ = true;
    return true;
  }
  bool end_array() override {
    if (depth_ == kOfRow) take_row();
    if (depth_ == kOfList) take_list();
    numbers_.clear();
    if (--depth_ == 0) end();
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    refuse_json(input_, byte, error.id);
  }

 private:
  static constexpr int kOfList = 2, kOfRow = 3;  // open brackets
  static constexpr std::size_t kOfChange = 4;    // numbers

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(input_.name, fmt::format("number {}", human_count(read_ + 1)),
                     "is " + what + "; expected a memory timeline of PyTorch's profiler");
  }
  bool number(std::int64_t value) {
    if (depth_ < kOfList) refuse("outside of a list");
    ++read_;
    numbers_.push_back(value);
    return true;
  }

  // The first list is one of times if the second has lists or is empty too, else a change.
  void take_list() {
    if (lists_ == 1) {
      first_ = numbers_;
    } else if (lists_ == 2 && first_.empty() && numbers_.empty()) {
      is_by_category_ = true;
    } else if (!is_by_category_) {
      if (lists_ == 2) take_change(first_);
      take_change(numbers_);
    }
  }
  // A size of 0 stands in front of those of the categories.
  void take_row() {
    if (numbers_.size() != kCategories + 1) refuse("in a row of another length");
    CategoryBytes row = {};
    for (std::size_t i = 0; i < kCategories; ++i) {
      row[i] = checked(numbers_[i + 1]);
      if (row[i] < 0) refuse("a size below 0");
    }
    ++rows_;
    note(row);
  }
  void take_change(const std::vector<std::int64_t>& change) {
    if (change.size() != kOfChange) refuse("in a list of another length");
    const std::int64_t category = change[3];
    if (category < 0 || category >= static_cast<std::int64_t>(kCategories)) {
      refuse("of no known category");
    }
    if (change[0] >= 0) note_time(change[0]);
    std::int64_t& sum = now_[static_cast<std::size_t>(category)];
    sum = checked(sum + checked(change[2]));
    note(now_);
  }
  void end() {
    if (is_by_category_) {
      if (rows_ != first_.size()) refuse("a list after another number of times");
      for (const std::int64_t time : first_) note_time(time);
    } else if (lists_ == 1) {
      take_change(first_);
    }
  }

  std::int64_t checked(std::int64_t bytes) const {
    constexpr auto kMost = static_cast<std::int64_t>(kMostBytes / kCategories);
    if (bytes <= -kMost || bytes >= kMost) refuse("no size of memory");
    return bytes;
  }
  static std::int64_t total(const CategoryBytes& bytes) {
    std::int64_t sum = 0;
    for (const std::int64_t part : bytes) sum += part;
    return sum;
  }
  void note(const CategoryBytes& bytes) {
    if (total(bytes) > total(peak_)) peak_ = bytes;
  }
  void note_time(std::int64_t time) {
    first_time_ = std::min(first_time_, time);
    last_time_ = std::max(last_time_, time);
    ++times_;
  }
  // Nanoseconds, or in lists by category microseconds, since 1970.
  double seconds() const {
    return (static_cast<double>(last_time_) - static_cast<double>(first_time_)) /
           (is_by_category_ ? 1e6 : 1e9);
  }

  const Input& input_;
  int depth_ = 0;
  std::uint64_t lists_ = 0, rows_ = 0, read_ = 0, times_ = 0;
  bool is_by_category_ = false;
  std::vector<std::int64_t> numbers_, first_;
  CategoryBytes now_ = {}, peak_ = {};
  std::int64_t first_time_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_time_ = 0;
};

Recording read_timeline(const Input& input, const ReadOptions& /*options*/) {
  const bool is_page = is_timeline_page(input.bytes);
  Recording recording =
      recording_of_log(input, "torch-timeline",
                       is_page ? "PyTorch's memory timeline, a picture in a web page"
                               : MemoryTimeline(input).told());
  recording.why_no_trace =
      "is a memory timeline of PyTorch's profiler (export_memory_timeline), which has " +
      std::string(is_page ? "no numbers: a name that ends in .json has those"
                          : "bytes by category over time and no blocks") +
      "; torch.cuda.memory._dump_snapshot writes a recording";
  return recording;
}

}  // namespace

// torch/profiler/_memory_profiler.py of PyTorch 2.1 to 2.15: export_memory_timeline, deprecated.
ReaderInfo torch_timeline_reader() {
  return {.name = "torch-timeline",
          .summary = "PyTorch's memory timeline: bytes by category over time, for info alone.",
          .recognises =
              [](const Input& input) {
                return is_timeline_list(input.bytes) || is_timeline_page(input.bytes);
              },
          .read = read_timeline};
}

}  // namespace memreplay
