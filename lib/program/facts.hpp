#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"

/// What answers to several questions hold of a recording.
namespace memreplay {

/// A span of a trace with a name: the events in [from, to).
struct Phase {
  std::string name;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t depth = 0;  ///< scopes around it

  friend bool operator==(const Phase&, const Phase&) = default;
};

/// Where the steps of a program (of a training, of a server) begin.
struct Steps {
  enum class Source { none, markers, annotations, repetition };
  Source source = Source::none;
  std::vector<std::uint64_t> begins;  ///< first events, ascending
  bool ends_whole = false;            ///< the last step is complete when the recording ends

  /// The step, counted from 1, in which the event lies; 0 before the first one.
  std::uint64_t of(std::uint64_t event) const;
};

/// The OOM at which a recording ends before one whole step of its program is known: whatever the
/// rest of the program could raise is a lower bound then.
struct EarlyEnd {
  enum class Why {
    first_step,          ///< the OOM is in the first step of a training program
    unlike_earlier,      ///< in a step whose requests differ from those of earlier ones
    rest_may_need_more,  ///< the rest of the earlier step that it repeats needs more than was
                         ///< recorded, or that step began with fewer gradients
    steps_unknown,       ///< the recording does not show where steps begin
    oom_untold,          ///< under its settings an OOM leaves no entry: it may end at one
  };
  enum class Pass { forward, backward, later };
  std::uint64_t event = 0;  ///< the OOM, or the last event
  Why why = Why::first_step;
  Pass pass = Pass::forward;  ///< in which the OOM came; forward too where it is unknown

  friend bool operator==(const EarlyEnd&, const EarlyEnd&) = default;
};

/// "first-step", as JSON has it.
constexpr std::string_view name_of(EarlyEnd::Why why) {
  constexpr std::string_view kNames[] = {"first-step", "unlike-earlier", "rest-may-need-more",
                                         "steps-unknown", "oom-untold"};
  return kNames[static_cast<std::size_t>(why)];
}

constexpr std::string_view name_of(EarlyEnd::Pass pass) {
  constexpr std::string_view kNames[] = {"forward", "backward", "later"};
  return kNames[static_cast<std::size_t>(pass)];
}

/// Where a recording ends, as every command says it.
enum class Ends : std::uint8_t {
  whole,              ///< with its program, or at an OOM after which nothing needs more memory
  oom_in_first_step,  ///< before one whole step is in it
  oom_later,          ///< in a later step, the rest of which may need more memory
  cut,                ///< maybe before its program does: the recording does not show where
};

/// "oom_in_first_step", as JSON has it.
constexpr std::string_view name_of(Ends ends) {
  constexpr std::string_view kNames[] = {"whole", "oom_in_first_step", "oom_later", "cut"};
  return kNames[static_cast<std::size_t>(ends)];
}

/// What a recording says of its program: decided once, the same in every answer.
struct RecordingFacts {
  std::optional<EarlyEnd> early_end;  ///< set: what the rest could raise is a lower bound
  bool starts_empty = true;
  bool has_events = true;  ///< else it is a state alone, of which nobody knows what followed

  bool whole() const { return !early_end && has_events; }
  Ends ends() const {
    using Why = EarlyEnd::Why;
    if (!has_events) return Ends::cut;
    if (!early_end) return Ends::whole;
    if (early_end->why == Why::first_step) return Ends::oom_in_first_step;
    const bool step_unknown =
        early_end->why == Why::oom_untold ||
        (early_end->why == Why::steps_unknown && early_end->pass == EarlyEnd::Pass::forward);
    return step_unknown ? Ends::cut : Ends::oom_later;
  }
};

/// What stands for a place where none is known. A recording without stacks may have tags.
inline constexpr std::string_view kNoStack = "(no stack recorded)";
inline constexpr std::string_view kNoTag = "(no tag)";
inline constexpr std::string_view kWaiting = "(waiting for another stream)";
inline constexpr std::string_view kFromBefore = "(from before the recording)";

/// What counts as one place: a line, or all lines of a function, of a file, of a folder or package;
/// unfolded: a line of the program or of an installed package.
enum class PlaceBy : std::uint8_t { place, function, file, module, unfolded };

/// "place", as options and reports name it.
constexpr std::string_view name_of(PlaceBy by) {
  constexpr std::string_view kNames[] = {"place", "function", "file", "module", "unfolded"};
  return kNames[static_cast<std::size_t>(by)];
}

/// What a code place holds.
struct PlaceSum {
  std::string place;
  Bytes bytes = 0;  ///< requested
  std::uint64_t blocks = 0;
};

/// What a code place and all that it calls hold.
struct CallNode {
  PlaceSum sum;
  std::vector<CallNode> calls;  ///< most bytes first
};

struct ProfiledFrame {
  std::string function;
  std::string file;
  std::uint32_t line = 0;  ///< 0: none is known

  friend auto operator<=>(const ProfiledFrame&, const ProfiledFrame&) = default;
};

/// What one stack holds, and all that it had requested by then.
struct ProfiledStack {
  std::vector<std::uint32_t> frames;  ///< into the profile's frames, the innermost first
  Bytes live = 0;                     ///< requested
  std::uint64_t live_blocks = 0;
  Bytes requested = 0;
  std::uint64_t requests = 0;
};

/// Memory by whole stacks, none of their frames left out.
struct StackProfile {
  std::vector<ProfiledFrame> frames;
  std::vector<ProfiledStack> stacks;
};

/// Code places of two versions of a program that are the same place in it.
struct PlacePair {
  std::string function;  ///< "model.py forward"; a place without a line is one itself
  std::string name;      ///< the later one; the function where several lines count as one
  std::vector<std::string> before;  ///< empty: it is new
  std::vector<std::string> now;     ///< empty: it is gone
  bool renamed = false;             ///< only its name changed
};

/// Requested bytes by what asked for them, at one moment of a run.
struct PlacesHeld {
  enum class By { stack, size };  ///< by size of the request where no stack is recorded
  By by = By::stack;
  std::map<std::string, Bytes> places;  ///< "model.py:41 forward", "requests of [4 MiB, 8 MiB)"
  Bytes others = 0;                     ///< places that are left out, each at most as large as any

  friend bool operator==(const PlacesHeld&, const PlacesHeld&) = default;
};

/// A code place that holds more than before.
struct PlaceGrowth {
  std::string place;
  std::optional<Bytes> before;  ///< unset: it was not among the largest, or partly not
  Bytes now = 0;
  Bytes grown = 0;  ///< without `before` the most that it can be
};

/// A place that holds more and more after the steps of a program.
struct GrowingPlace {
  std::string place;
  std::vector<Bytes> live;  ///< requested, after steps 0, 1, …
  Bytes per_step = 0;
  std::uint64_t since_step = 0;   ///< from 1
  std::uint64_t first_event = 0;  ///< the request of the first block that stays
};

/// What a program keeps more of with each of its steps.
struct Growth {
  std::string place;  ///< the call site that keeps most
  Bytes place_per_step = 0;
  std::uint64_t since_step = 0;   ///< from 1
  std::uint64_t first_event = 0;  ///< the request of the first block that stays
  std::size_t places = 0;         ///< call sites that grow
  Bytes per_step = 0;             ///< all of them together
  Bytes grown = 0;                ///< by the last complete step
  std::uint64_t steps = 0;        ///< complete ones
  Bytes last_peak = 0;            ///< requested, in the last of them

  /// Complete steps for which a device is large enough, after those recorded: at most.
  std::uint64_t steps_until_full(Bytes room) const {
    return (room - std::min(room, last_peak)) / std::max<Bytes>(per_step, 1);
  }
};

/// What is live after each step of a program.
struct StepGrowth {
  enum class Verdict { grows, steady, unknown };
  Verdict verdict = Verdict::unknown;
  Steps::Source source = Steps::Source::none;
  std::uint64_t steps = 0;    ///< complete ones
  std::vector<Bytes> live;    ///< requested, after steps 0, 1, …
  std::int64_t per_step = 0;  ///< growth of all that is live; steady: in the last half of the steps
  std::uint64_t since_step = 0;      ///< with which the first place begins to grow
  std::vector<GrowingPlace> places;  ///< those that grow, most per step first
  Bytes last_peak = 0;               ///< requested, in the last complete step
  std::optional<Bytes> room;         ///< what the device has left, where it will be full
  std::optional<std::uint64_t> steps_until_full;  ///< at most, as all of the room is of use
};

}  // namespace memreplay
