#include "extensions/what_if/edit/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "program/places.hpp"
#include "program/program_course.hpp"
#include "program/steps.hpp"
#include "program/trace_summary.hpp"

namespace memreplay {
namespace {

constexpr std::array<std::string_view, 5> kCategories = {"parameter", "optimizer_state", "gradient",
                                                         "activation", "temporary"};

[[noreturn]] void refuse(const std::string& option, const std::string& part,
                         std::string_view expected) {
  throw UsageError(fmt::format("{}: '{}'; expected {}", option, part, expected));
}

std::uint64_t whole(const std::string& option, const std::string& part, std::string_view value,
                    std::string_view expected, std::uint64_t most = UINT64_MAX) {
  const auto number = parse_whole(value);
  if (!number || *number > most) refuse(option, part, expected);
  return *number;
}

CodeLines code_lines(const std::string& option, const std::string& part, std::string_view value) {
  constexpr std::string_view kExpected = "code=FILE:FIRST-LAST, such as code=models.py:47-49";
  const std::size_t colon = value.rfind(':');
  if (colon == value.npos || colon == 0) refuse(option, part, kExpected);
  const std::string_view lines = value.substr(colon + 1);
  const std::size_t dash = std::min(lines.find('-'), lines.size());
  const auto first = parse_whole(lines.substr(0, dash));
  const auto last = dash < lines.size() ? parse_whole(lines.substr(dash + 1)) : first;
  if (!first || !last || *last < *first || *last >= kNoLine) refuse(option, part, kExpected);
  return {std::string(value.substr(0, colon)), static_cast<std::uint32_t>(*first),
          static_cast<std::uint32_t>(*last)};
}

/// "size>=16MiB", "size>16MiB", "size<1MiB"; false where it is none.
bool take_size(const std::string& option, const std::string& part, Selector& selector) {
  constexpr std::string_view kSize = "size";
  if (!part.starts_with(kSize) || part.size() <= kSize.size()) return false;
  std::string_view rest = std::string_view(part).substr(kSize.size());
  const char sign = rest.front();
  if (sign != '>' && sign != '<') return false;
  rest.remove_prefix(1);
  const bool or_equal = rest.starts_with('=');
  if (or_equal) rest.remove_prefix(1);
  const auto size = parse_size(rest);
  if (!size) refuse(option, part, "a size, such as size>=16MiB");
  if (sign == '>') {
    selector.at_least = *size + static_cast<Bytes>(!or_equal);
  } else {
    selector.below = *size + static_cast<Bytes>(or_equal);
  }
  return true;
}

bool names_match(std::string_view asked, std::string_view name) {
  if (asked.ends_with('*')) return name.starts_with(asked.substr(0, asked.size() - 1));
  return asked == name;
}

bool ends_at_folder(std::string_view path, std::string_view end) {
  if (!path.ends_with(end)) return false;
  if (path.size() == end.size()) return true;
  const char before = path[path.size() - end.size() - 1];
  return before == '/' || before == '\\';
}

Category category_of(const Recording& recording, const BlockLife& life, const Passes& passes) {
  if (life.existed_before()) return Category::parameter;
  const bool stays = life.freed == BlockLife::kNever;
  if (passes.is_backward(life.stack)) {
    const bool outlives =
        stays || passes.others_before(life.freed) > passes.others_before(life.born);
    return outlives ? Category::gradient : Category::temporary;
  }
  const bool optimizes = is_of_optimizer(recording, life.stack);
  if (stays) return optimizes ? Category::optimizer_state : Category::parameter;
  return passes.outlives_forward(life) ? Category::activation : Category::temporary;
}

/// As a selector takes them: "step *" for "step 1", "step 2", …
std::vector<std::string> scope_patterns(const std::set<std::string>& names) {
  std::map<std::string, std::vector<std::string>> by_text;  // in front of a number
  for (const std::string& name : names) {
    by_text[name.substr(0, name.find_last_not_of("0123456789") + 1)].push_back(name);
  }
  std::vector<std::string> patterns;
  for (const auto& [text, numbered] : by_text) {
    const bool alike = numbered.size() > 1 && !text.empty();
    if (alike) patterns.push_back(text + '*');
    if (!alike) patterns.insert(patterns.end(), numbered.begin(), numbered.end());
  }
  return patterns;
}

[[noreturn]] void refuse_scope(const std::string& asked, const std::set<std::string>& names) {
  constexpr std::size_t kNamed = 8;
  const std::string none = fmt::format("phase={}: no such scope in this recording", asked);
  if (names.empty()) throw UsageError(none + "; it annotates none");
  std::vector<std::string> patterns = scope_patterns(names);
  std::string guess = did_you_mean(asked, patterns);
  const auto longer = std::ranges::find_if(
      patterns, [&](const std::string& pattern) { return pattern.starts_with(asked); });
  if (guess.empty() && longer != patterns.end()) {
    guess = fmt::format("; did you mean '{}'?", *longer);
  }
  const std::size_t more = patterns.size() - std::min(patterns.size(), kNamed);
  patterns.resize(patterns.size() - more);
  throw UsageError(fmt::format("{}{} (it has {}{})", none, guess, fmt::join(patterns, ", "),
                               more > 0 ? fmt::format(" and {} more", more) : ""));
}

/// By event: what of the scopes that a selector names.
class Scopes {
 public:
  Scopes(const Recording& recording, const Trace& trace, const Selector& selector) {
    if (selector.step) steps_ = steps_of(recording, trace);
    if (!selector.phase) return;
    for (const Phase& phase : annotated_phases(recording, trace)) {
      names_.insert(phase.name);
      if (names_match(*selector.phase, phase.name)) spans_.emplace_back(phase.from, phase.to);
    }
    if (spans_.empty()) refuse_scope(*selector.phase, names_);
  }

  bool hold(const Selector& selector, std::uint64_t event) const {
    if (selector.step && steps_.of(event) != *selector.step) return false;
    return !selector.phase || std::ranges::any_of(spans_, [&](const auto& span) {
      return span.first <= event && event < span.second;
    });
  }

 private:
  Steps steps_;
  std::set<std::string> names_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans_;
};

/// By stack: whether it is one of those meant.
std::vector<bool> stacks_meant(const Recording& recording, const Selector& selector) {
  const CodeFrames code(recording, selector);
  std::vector<bool> frame_meant;
  std::vector<bool> frame_in_code;
  for (const Frame& frame : recording.frames) {
    frame_in_code.push_back(!selector.names_code() || code.matches(frame));
    frame_meant.push_back(!selector.stack ||
                          frame_text(recording, frame).find(*selector.stack) != std::string::npos);
  }
  const bool any = !selector.names_code() && !selector.stack;
  std::vector<bool> meant;
  for (const std::vector<std::uint32_t>& stack : recording.stacks) {
    const auto has = [&](const std::vector<bool>& which) {
      return std::ranges::any_of(stack, [&](std::uint32_t frame) { return which[frame]; });
    };
    meant.push_back(any || (has(frame_in_code) && has(frame_meant)));
  }
  if (meant.empty()) meant.push_back(any);
  return meant;
}

}  // namespace

bool take_selector(const std::string& option, const std::string& part, Selector& selector) {
  if (part == "saved") return selector.saved = true;
  if (take_size(option, part, selector)) return true;
  const std::size_t equals = part.find('=');
  if (equals == part.npos) return false;
  const std::string key = part.substr(0, equals);
  const std::string value = part.substr(equals + 1);
  if (key == "code") {
    selector.code.push_back(code_lines(option, part, value));
  } else if (key == "function") {
    selector.function = value;
  } else if (key == "stack") {
    selector.stack = value;
  } else if (key == "phase") {
    selector.phase = value;
  } else if (key == "category") {
    const auto found = std::ranges::find(kCategories, value);
    if (found == kCategories.end())
      refuse(option, part, fmt::format("{}", fmt::join(kCategories, ", ")));
    selector.category = static_cast<Category>(found - kCategories.begin());
  } else if (key == "stream") {
    selector.stream =
        static_cast<std::uint32_t>(whole(option, part, value, "a stream's number", kNoStream - 1));
  } else if (key == "step") {
    selector.step = whole(option, part, value, "a step's number");
  } else if (key == "lives") {
    selector.lives_at_least = whole(option, part, value, "a number of events");
  } else {
    return false;
  }
  if (value.empty()) refuse(option, part, "a value");
  return true;
}

CodeFrames::CodeFrames(const Recording& recording, const Selector& selector)
    : recording_(recording), selector_(selector) {}

bool CodeFrames::matches(const Frame& frame) const {
  const std::string_view name = recording_.texts[frame.name];
  if (selector_.function &&
      !(name == *selector_.function || name.ends_with("." + *selector_.function))) {
    return false;
  }
  if (selector_.code.empty()) return true;
  return std::ranges::any_of(selector_.code, [&](const CodeLines& lines) {
    return frame.line != kNoLine && lines.first <= frame.line && frame.line <= lines.last &&
           ends_at_folder(recording_.texts[frame.file], lines.file);
  });
}

std::vector<std::uint32_t> selected(const Recording& recording, const Trace& trace,
                                    const BlockLives& lives, const Selector& selector) {
  const Passes passes(recording, trace);
  if ((selector.category || selector.saved) && !passes.are_known()) {
    throw UsageError(fmt::format(
        "{}: inferred from Python stacks, and this recording has none",
        selector.category
            ? fmt::format("category={}", kCategories[static_cast<std::size_t>(*selector.category)])
            : "saved"));
  }
  const Scopes scopes(recording, trace, selector);
  const std::vector<bool> meant = stacks_meant(recording, selector);
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = 0; i < lives.blocks.size(); ++i) {
    const BlockLife& life = lives.blocks[i];
    const std::uint64_t born = life.existed_before() ? 0 : life.born;
    if (life.size < selector.at_least || life.size >= selector.below) continue;
    if (!meant[life.stack]) continue;
    if ((selector.phase || selector.step) &&
        (life.existed_before() || !scopes.hold(selector, born))) {
      continue;
    }
    if (selector.stream && (life.existed_before() || trace.lane(born).stream != *selector.stream)) {
      continue;
    }
    if (selector.saved && !passes.is_saved(life)) continue;
    if (selector.category && category_of(recording, life, passes) != *selector.category) continue;
    const bool lives_long =
        life.freed == BlockLife::kNever || life.freed - born >= selector.lives_at_least;
    if (lives_long) blocks.push_back(i);
  }
  return blocks;
}

SelectedBlocks selection_of(const Recording& recording, const Trace& trace,
                            const Selector& selector) {
  const BlockLives lives = lives_of(trace);
  const Places places(recording);
  SelectedBlocks all;
  std::map<std::string, PlaceSum> by_place;
  std::vector<bool> picked(lives.blocks.size(), false);
  for (const std::uint32_t block : selected(recording, trace, lives, selector)) {
    const BlockLife& life = lives.blocks[block];
    picked[block] = true;
    all.smallest = all.blocks == 0 ? life.size : std::min(all.smallest, life.size);
    all.largest = std::max(all.largest, life.size);
    ++all.blocks;
    all.bytes += life.size;
    const Asker asker = life.existed_before() ? Asker{.stack = life.stack, .before = true}
                                              : asker_of(trace, life.born);
    PlaceSum& sum = by_place[places.name_of(asker)];
    sum.bytes += life.size;
    ++sum.blocks;
  }
  for (auto& [name, sum] : by_place) all.places.push_back({name, sum.bytes, sum.blocks});
  std::ranges::stable_sort(all.places, std::ranges::greater(), &PlaceSum::bytes);

  Bytes live = 0;
  Bytes live_of_all = 0;
  Bytes peak_of_all = 0;
  const auto add = [&](std::uint32_t block, std::uint64_t event) {
    live_of_all += lives.blocks[block].size;
    if (picked[block]) live += lives.blocks[block].size;
    if (live > all.peak_live) {
      all.peak_live = live;
      all.peak_event = event;
    }
    if (live_of_all > peak_of_all) {
      peak_of_all = live_of_all;
      all.at_peak = live;
    }
  };
  for (std::uint32_t i = 0; i < lives.blocks.size() && lives.blocks[i].existed_before(); ++i) {
    add(i, 0);
  }
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const std::uint32_t block = lives.block_of[event];
    if (block == BlockLives::kNone) continue;
    if (trace.ops[event] == Op::allocate) add(block, event);
    if (lives.blocks[block].freed != event) continue;
    live_of_all -= lives.blocks[block].size;
    if (picked[block]) live -= lives.blocks[block].size;
  }
  return all;
}

}  // namespace memreplay
