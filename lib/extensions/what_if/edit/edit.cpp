#include "extensions/what_if/edit/edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/what_if/edit/block_edits.hpp"

namespace memreplay {
namespace {

/// One way to make all edits.
struct Made {
  MadeRecording recording;
  std::vector<EditFacts> facts;
  bool open = false;  ///< keeping outputs or not makes a difference
};

/// What the edits leave open.
struct EditGuess {
  CheckpointGuess lives;
  AutocastGuess types;
  OffloadGuess moves;
};

const char* const kWhy =
    "lifetimes in the edited program are inferred from stacks, some of them only within limits";
const char* const kWhyTypes =
    "the program was recorded in fp32, and the blocks that autocast shrinks or copies are inferred "
    "from stacks and sizes, some of them only within limits";

bool is_checkpoint(const Edit& edit) { return std::holds_alternative<CheckpointEdit>(edit.what); }

bool is_autocast(const Edit& edit) { return std::holds_alternative<AutocastEdit>(edit.what); }

bool is_offload(const Edit& edit) { return std::holds_alternative<OffloadEdit>(edit.what); }

Rewritten edit_once(const Subject& subject, const Edit& edit, const EditGuess& guess, Made& made) {
  const Recording& recording = subject.recording();
  const Trace& trace = subject.trace();
  if (is_checkpoint(edit)) {
    Checkpointed checkpointed = memreplay::checkpointed(recording, trace, edit, guess.lives);
    made.open |= checkpointed.open;
    made.facts.push_back(std::move(checkpointed.facts));
    return std::move(checkpointed.written);
  }
  EditedBlocks blocks = is_autocast(edit)  ? autocasted(recording, trace, edit, guess.types)
                        : is_offload(edit) ? offloaded(recording, trace, edit, guess.moves)
                                           : with_blocks_changed(recording, trace, edit);
  made.facts.push_back(std::move(blocks.facts));
  return std::move(blocks.written);
}

bool guesses_lives(const Edit& edit) { return is_checkpoint(edit) || is_offload(edit); }

/// What is open of the recording that is edited stays so.
std::string what_is_open(const Subject& subject, std::span<const Edit> edits) {
  std::string why = subject.origin() == nullptr ? "" : subject.origin()->why_inexact;
  const auto add = [&](const char* more) { why += (why.empty() ? "" : "; ") + std::string(more); };
  if (std::ranges::any_of(edits, guesses_lives)) add(kWhy);
  if (std::ranges::any_of(edits, is_autocast)) add(kWhyTypes);
  return why;
}

Made make(const Subject& subject, std::span<const Edit> edits, const EditGuess& guess) {
  Made made;
  const std::string why = what_is_open(subject, edits);
  std::optional<Subject> edited;
  for (const Edit& edit : edits) {
    const Subject& before = edited ? *edited : subject;
    MadeRecording next = made_recording(before, edit_once(before, edit, guess, made), why);
    edited.reset();
    made.recording = std::move(next);
    edited.emplace(made.recording.recording, made.recording.trace(), made.recording.origin);
  }
  return made;
}

/// Ways beside the likeliest one; `open`: whether outputs are kept makes a difference.
std::vector<CheckpointGuess> ways_to_live(bool open) {
  std::vector<CheckpointGuess> ways;
  for (const Deaths deaths :
       {Deaths::by_scope, Deaths::rebound, Deaths::at_once, Deaths::at_the_end}) {
    for (const bool keeps : {true, false}) {
      if (deaths == Deaths::by_scope && keeps) continue;
      if (keeps || open) ways.push_back({deaths, keeps});
    }
  }
  ways.push_back({.deaths = Deaths::rebound, .returns_more = true});
  return ways;
}

/// Likewise, of the tensors that are moved out.
struct WayToMove {
  OffloadGuess moves;
  double reach = 0;  ///< see MadeRecording
};

/// Beside the likeliest one. That a tensor is saved by several operations shows for some alone: of
/// as much nothing may be known.
constexpr std::array kWaysToMove = {
    WayToMove{.moves = {.deaths = Deaths::by_scope}},
    WayToMove{.moves = {.deaths = Deaths::at_once}},
    WayToMove{.moves = {.inputs = HeldInputs::others}},
    WayToMove{.moves = {.whole_lines = true}},
    WayToMove{.moves = {.once = true}, .reach = -1},
};

// By so much recorded programs are off: small parameters are left out, and the order of frees is
// not that of the engine in each place.
constexpr double kMovedRequestedOpen = 0.01;
constexpr double kMovedReservedOpen = 0.06;

// By so much recorded programs under autocast are off where every operation has a name: small
// copies are left out, and the order of frees is not that of the engine in each place.
constexpr double kRequestedOpen = 0.03;
constexpr double kReservedOpen = 0.06;

/// Likewise, of the types that autocast gives.
struct WayToCast {
  AutocastGuess types;
  double reach = 0;  ///< see MadeRecording
};

/// Beside the likeliest one. All unnamed operations in fp32 are most that can be wrong one way;
/// half as much may be the other way, such as by operations that are thought to copy and do not.
/// Convolutions in half precision take other kernels, whose workspaces may be larger as well.
constexpr std::array kWaysToCast = {
    WayToCast{.types = {.unnamed = AutocastGuess::Unnamed::single}, .reach = -0.5},
    WayToCast{.types = {.unnamed = AutocastGuess::Unnamed::half}},
    WayToCast{.types = {.unnamed = AutocastGuess::Unnamed::half, .halves_mixed = true}},
    WayToCast{.types = {.halves_mixed = true}},
    WayToCast{.types = {.keeps_inputs = true}},
    WayToCast{.types = {.no_workspaces = true}, .reach = -0.5},
};

const std::string kOption = "--edit";

const std::vector<std::string> kVerbs = {"checkpoint", "offload", "scale",   "drop",
                                         "shorten",    "dtype",   "autocast"};

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(",&"), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& part, std::string_view expected) {
  throw UsageError(fmt::format("{}: '{}'; expected {}", kOption, part, expected));
}

/// The options of a verb, which take KEY=VALUE where it is theirs.
struct Taker {
  const std::string& part;
  std::string key;
  std::string value;

  explicit Taker(const std::string& of) : part(of) {
    const std::size_t equals = std::min(of.find('='), of.size());
    key = of.substr(0, equals);
    value = of.substr(std::min(equals + 1, of.size()));
  }

  std::uint32_t count() const { return count_of(value); }

  std::uint32_t count_of(std::string_view text) const {
    const auto number = parse_whole(text);
    if (!number || *number == 0 || *number > UINT32_MAX) refuse(part, "a whole number above 0");
    return static_cast<std::uint32_t>(*number);
  }

  bool yes() const {
    if (value != "true" && value != "false") refuse(part, "true or false");
    return value == "true";
  }

  double factor() const {
    try {
      std::size_t end = 0;
      const double number = std::stod(value, &end);
      if (end == value.size() && number > 0 && number <= 1e6) return number;
    } catch (const std::logic_error&) {
    }
    refuse(part, "a number above 0");
  }

  bool take(CheckpointEdit& edit) const {
    if (key == "group") {
      const std::size_t slash = std::min(value.find('/'), value.size());
      edit.group = count_of(std::string_view(value).substr(0, slash));
      if (slash == value.size()) return true;
      edit.inner = count_of(std::string_view(value).substr(slash + 1));
      if (*edit.inner >= edit.group)
        refuse(part, "fewer layers in the inner groups, such as group=4/2");
    } else if (key == "only") {
      edit.only = count();
    } else if (key == "segments") {
      edit.segments = count();
    } else if (key == "reentrant") {
      edit.reentrant = yes();
    } else {
      return false;
    }
    return true;
  }

  bool take(OffloadEdit& edit) const {
    if (key == "bandwidth") {
      std::string_view size = value;
      if (size.ends_with("/s")) size.remove_suffix(2);
      const auto bytes = parse_size(size);
      if (!bytes || *bytes == 0) refuse(part, "bytes a second, such as bandwidth=25GiB/s");
      edit.bandwidth = static_cast<double>(*bytes);
    } else if (key == "pinned") {
      edit.pinned = yes();
    } else if (key == "only") {
      edit.only = count();
    } else if (key == "to") {
      if (value != "host") refuse(part, "to=host");
    } else {
      return false;
    }
    return true;
  }

  bool take(ScaleEdit& edit) const {
    if (key != "factor") return false;
    edit.factor = factor();
    return true;
  }

  bool take(DropEdit& /*edit*/) const { return false; }

  bool take(ShortenEdit& edit) const {
    if (key != "events") return false;
    edit.events = count();
    return true;
  }

  bool take(DtypeEdit& edit) const {
    if (key == "to" || key == "from") {
      if (bytes_of_dtype(value) == 0) refuse(part, "fp64, fp32, bf16, fp16, fp8 or int8");
      (key == "to" ? edit.to : edit.from) = value;
      return true;
    }
    return false;
  }

  bool take(AutocastEdit& edit) const {
    if (key == "to") {
      if (value != "bf16" && value != "fp16") refuse(part, "to=bf16 or to=fp16");
      edit.to = value;
    } else if (key == "cache") {
      edit.cache = yes();
    } else {
      refuse(part, "to=bf16, to=fp16 or cache=false: autocast covers whole forward passes");
    }
    return true;
  }
};

void check(const Edit& edit) {
  const auto* offload = std::get_if<OffloadEdit>(&edit.what);
  if (offload != nullptr && offload->only && !edit.selector.names_code()) {
    throw UsageError(fmt::format("{} {}: only= needs code=FILE:FIRST-LAST or function=NAME",
                                 kOption, edit.text));
  }
  const auto* scale = std::get_if<ScaleEdit>(&edit.what);
  if (scale != nullptr && scale->factor == 0) {
    throw UsageError(fmt::format("{} {}: expected factor=NUMBER", kOption, edit.text));
  }
  const auto* shorten = std::get_if<ShortenEdit>(&edit.what);
  if (shorten != nullptr && shorten->events == 0) {
    throw UsageError(fmt::format("{} {}: expected events=N", kOption, edit.text));
  }
  if (const auto* checkpoint = std::get_if<CheckpointEdit>(&edit.what)) {
    if (!edit.selector.names_code()) {
      throw UsageError(
          fmt::format("{} {}: expected code=FILE:FIRST-LAST or function=NAME", kOption, edit.text));
    }
    const int ways = static_cast<int>(checkpoint->group > 1) +
                     static_cast<int>(checkpoint->only.has_value()) +
                     static_cast<int>(checkpoint->segments.has_value());
    if (ways > 1) {
      throw UsageError(
          fmt::format("{} {}: expected only one of group, only and segments", kOption, edit.text));
    }
    if (checkpoint->inner && checkpoint->reentrant) {
      throw UsageError(
          fmt::format("{} {}: groups within groups cannot be reentrant", kOption, edit.text));
    }
  }
}

std::vector<Edit> parsed(std::span<const std::string> texts) {
  std::vector<Edit> edits;
  for (const std::string& text : texts) edits.push_back(parse_edit(text));
  return edits;
}

}  // namespace

Bytes bytes_of_dtype(std::string_view name) {
  if (name == "fp64" || name == "float64" || name == "int64") return 8;
  if (name == "fp32" || name == "float32" || name == "tf32" || name == "int32") return 4;
  if (name == "bf16" || name == "bfloat16" || name == "fp16" || name == "float16") return 2;
  if (name == "fp8" || name == "int8" || name == "bool") return 1;
  return 0;
}

Selector parse_selector(const std::string& option, const std::string& text) {
  Selector selector;
  const std::vector<std::string> parts = parts_of(text);
  if (parts.empty()) throw UsageError(option + ": no selector; expected KEY=VALUE,…");
  for (const std::string& part : parts) {
    if (take_selector(option, part, selector)) continue;
    throw UsageError(fmt::format(
        "{}: '{}'; expected code=, function=, stack=, category=, phase=, size>=, stream=, step=, "
        "lives= or saved",
        option, part));
  }
  return selector;
}

Edit parse_edit(const std::string& text) {
  Edit edit{.text = text, .what = DropEdit{}, .selector = {}};
  const std::size_t colon = text.find(':');
  const std::string verb = text.substr(0, colon);
  if (verb == "checkpoint") {
    edit.what = CheckpointEdit{};
  } else if (verb == "offload") {
    edit.what = OffloadEdit{};
  } else if (verb == "scale") {
    edit.what = ScaleEdit{};
  } else if (verb == "shorten") {
    edit.what = ShortenEdit{};
  } else if (verb == "dtype") {
    edit.what = DtypeEdit{};
  } else if (verb == "autocast") {
    edit.what = AutocastEdit{};
  } else if (verb != "drop") {
    throw UsageError(
        fmt::format("{}: unknown verb '{}'{} (expected VERB:KEY=VALUE,… with one of {})", kOption,
                    verb, did_you_mean(verb, kVerbs), fmt::join(kVerbs, ", ")));
  }
  const std::vector<std::string> parts =
      colon == text.npos ? std::vector<std::string>() : parts_of(text.substr(colon + 1));
  if (parts.empty() && verb != "autocast") {
    throw UsageError(
        fmt::format("{} {}: expected blocks to select, as VERB:KEY=VALUE,…", kOption, text));
  }
  for (const std::string& part : parts) {
    const Taker taker(part);
    if (std::visit([&](auto& what) { return taker.take(what); }, edit.what)) continue;
    if (!take_selector(kOption, part, edit.selector)) {
      refuse(part,
             "a selector (code=, function=, stack=, category=, phase=, size>=, stream=, "
             "step=, lives=, saved) or an option of " +
                 verb);
    }
  }
  check(edit);
  return edit;
}

MadeRecordings edited(const Subject& subject, std::span<const Edit> edits) {
  Made likeliest = make(subject, edits, {});
  MadeRecordings all{.likeliest = std::move(likeliest.recording),
                     .edits = std::move(likeliest.facts)};
  const auto add = [&](const EditGuess& guess, double reach) {
    all.others.push_back(make(subject, edits, guess).recording);
    all.others.back().reach = reach;
  };
  const auto open = [&](double requested, double reserved) {
    all.requested_open = std::max(all.requested_open, requested);
    all.reserved_open = std::max(all.reserved_open, reserved);
  };
  if (std::ranges::any_of(edits, is_checkpoint)) {
    for (const CheckpointGuess& lives : ways_to_live(likeliest.open)) add({.lives = lives}, 0);
  }
  if (std::ranges::any_of(edits, is_offload)) {
    for (const WayToMove& way : kWaysToMove) add({.moves = way.moves}, way.reach);
    open(kMovedRequestedOpen, kMovedReservedOpen);
  }
  if (std::ranges::any_of(edits, is_autocast)) {
    for (const WayToCast& way : kWaysToCast) add({.types = way.types}, way.reach);
    open(kRequestedOpen, kReservedOpen);
  }
  return all;
}

MadeRecordings edited(const MadeRecordings& made, std::span<const Edit> edits) {
  const auto subject = [](const MadeRecording& one) {
    return Subject(one.recording, one.trace(), one.origin);
  };
  MadeRecordings all = edited(subject(made.likeliest), edits);
  for (const MadeRecording& other : made.others) {
    all.others.push_back(edited(subject(other), edits).likeliest);
    all.others.back().reach = other.reach;
  }
  all.reserved_open = std::max(all.reserved_open, made.reserved_open);
  all.requested_open = std::max(all.requested_open, made.requested_open);
  all.predicted = made.predicted;
  return all;
}

void check_edit(const std::string& edit) { parse_edit(edit); }

MadeRecordings edited(const Subject& subject, std::span<const std::string> edits) {
  return edited(subject, parsed(edits));
}

MadeRecordings edited(const MadeRecordings& made, std::span<const std::string> edits) {
  return edited(made, parsed(edits));
}

void check_selector(const std::string& option, const std::string& selector) {
  parse_selector(option, selector);
}

SelectedBlocks selection_of(const Recording& recording, const Trace& trace,
                            const std::string& selector) {
  return selection_of(recording, trace, parse_selector("--select", selector));
}

}  // namespace memreplay
