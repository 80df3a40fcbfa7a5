#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/program.hpp"
#include "core/request.hpp"
#include "program/facts.hpp"
#include "run/answer.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// What changed between two recordings, or where do two strategies part on one?
struct DiffQuestion {
  /// Two for one recording. For two recordings one, or none: they are compared as recorded.
  std::vector<StrategySpec> strategies;
  Setup setup;
  std::optional<std::uint64_t> at_step;  ///< the step that is compared; unset: whole recordings
  PlaceBy by = PlaceBy::place;           ///< what counts as a place
  std::size_t rows = 10;                 ///< rows of the table of places
};

struct Control;
struct DiffQuestion;
class Inputs;

/// The most that was held in the events [from, to).
struct SpanPeak {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Bytes requested = 0;
  std::optional<Bytes> allocated;  ///< set for replays only
  std::optional<Bytes> reserved;   ///< after an event; unset: not recorded
  /// The event after the first at which the most was allocated (requested where that is not known);
  /// `from`: never more than at its beginning.
  std::uint64_t behind = 0;
};

/// How much one side of a comparison holds, and when.
struct SidePeaks {
  Steps steps;
  std::vector<SpanPeak> spans;  ///< by step; the first is what comes before step 1
  SpanPeak whole;
  std::optional<Run> run;               ///< unset: as recorded
  std::vector<std::uint64_t> unserved;  ///< events of the replay, ascending
};

struct SizeDiff {
  Bytes size = 0;
  std::uint64_t a_blocks = 0;
  std::uint64_t b_blocks = 0;
};

/// What one place holds at the two peaks, on one stream, in private pools or the default one.
struct PlaceDiff {
  PlacePair place;
  bool private_pool = false;
  StreamIndex stream = 0;
  Bytes a_bytes = 0;  ///< requested
  Bytes b_bytes = 0;
  std::uint64_t a_blocks = 0;
  std::uint64_t b_blocks = 0;
  std::vector<SizeDiff> sizes;  ///< ascending

  enum class Change { same, grew, shrank, only_a, only_b, other_sizes };
  Change change() const;
  /// Without its sign.
  Bytes difference() const { return a_bytes < b_bytes ? b_bytes - a_bytes : a_bytes - b_bytes; }
};

/// Sums of what was matched block by block.
struct BlockSum {
  std::uint64_t blocks = 0;
  Bytes bytes = 0;
};

/// A request as its program made it.
struct RequestMade {
  std::uint64_t event = 0;
  Bytes size = 0;
  std::string place;  ///< empty: no stack was recorded
  StreamIndex stream = 0;
  bool private_pool = false;
  bool refused = false;  ///< by the recorded allocator
};

/// Where two programs first ask for something else.
struct RequestDifference {
  std::uint64_t step = 0;        ///< 0: before the first, or no steps
  std::uint64_t number = 0;      ///< which request of the step, from 1
  std::optional<RequestMade> a;  ///< unset: it made fewer requests in this step
  std::optional<RequestMade> b;
};

struct RequestsDiff {
  std::optional<RequestDifference> first;  ///< unset: all requests are the same, in order
  /// Requests are freed in the same order too, between the same requests.
  bool same_frees = true;
  std::uint64_t a_requests = 0;
  std::uint64_t b_requests = 0;
  /// The first step in which both make as many requests, but not the same ones.
  std::optional<RequestDifference> first_in_equal_step;
};

/// What changed between two recordings: blocks are matched by the stack that asked for them and by
/// size, never by address.
struct RecordingsDiff {
  SidePeaks a;
  SidePeaks b;
  std::uint64_t at_step = 0;  ///< whose peaks are compared; 0: those of the whole recordings
  SpanPeak a_peak;
  SpanPeak b_peak;
  bool a_has_stacks = true;  ///< or tags
  bool b_has_stacks = true;
  PlaceBy place_by = PlaceBy::place;  ///< what counts as a place
  std::size_t rows = 10;              ///< rows of the table of places in the text
  std::vector<PlaceDiff> places;
  BlockSum in_both;  ///< same place, same size
  BlockSum only_a;
  BlockSum only_b;
  RequestsDiff requests;

  bool by_stack() const { return a_has_stacks && b_has_stacks; }
  bool has_steps() const {
    return a.steps.source != Steps::Source::none && b.steps.source != Steps::Source::none;
  }
};

/// What a strategy holds right after an event.
struct Holding {
  bool refused = false;  ///< the request of this event
  Bytes requested = 0;
  Bytes allocated = 0;
  Bytes reserved = 0;
  Bytes free = 0;  ///< inside what it holds
  Bytes largest_free = 0;
  std::uint64_t device_calls = 0;  ///< so far
};

/// What two strategies hold at one event.
struct Parting {
  std::uint64_t event = 0;
  Op op = Op::allocate;
  std::uint64_t step = 0;  ///< 0: before the first, or no steps
  Bytes size = 0;          ///< requested or freed; 0: the event concerns no block
  StreamIndex stream = 0;
  std::string place;  ///< call site of a request; empty: no stack was recorded
  std::array<Holding, 2> holds;
};

/// One side reserves more than the other in all events [from, to).
struct Lead {
  std::size_t more = 0;  ///< which side
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Parting furthest;  ///< the first event with the largest difference

  Bytes difference() const {
    return furthest.holds[more].reserved - furthest.holds[1 - more].reserved;
  }
};

/// Where two strategies part on one recording. Their addresses are not comparable; what they hold,
/// whom they serve and how often they call the device is.
struct StrategiesDiff {
  std::array<Run, 2> runs;                      ///< their places set
  std::optional<std::uint64_t> allocated_from;  ///< first event with other allocated bytes
  std::optional<Parting> reserved;              ///< first event with other reserved bytes
  std::optional<Parting> device_calls;          ///< first event with another number of calls so far
  std::optional<Parting> served;                ///< first request that only one of them serves
  std::optional<Lead> lead;                     ///< unset: they always reserve the same
  std::uint64_t events_a_more = 0;              ///< events after which the first reserves more
  std::uint64_t events_b_more = 0;
  bool finished = true;  ///< false: cancelled, and only `runs` mean something

  /// The first event at which they hold, serve or do something else; null where they never part.
  const Parting* first() const;
};

/// One device of each of two recordings, as recorded or replayed under one strategy.
struct RecordingsAnswer {
  TraceSummary a;
  TraceSummary b;
  std::optional<DeviceSummary> device;  ///< for the replays; unset: as recorded
  RecordingsDiff diff;
  bool interrupted = false;  ///< and half of a comparison is none
};

/// One device of a recording under two strategies.
struct StrategiesAnswer {
  TraceSummary trace;
  DeviceSummary device;
  std::vector<std::uint64_t> streams;  ///< handles, by index
  std::optional<VerifyRun> model_check;
  StrategiesDiff diff;
  bool interrupted = false;  ///< and half of a comparison is none
};

using DiffAnswer = std::variant<RecordingsAnswer, StrategiesAnswer>;

/// Compares the first devices of two recordings, or two strategies on that of one. Throws
/// UsageError where a strategy cannot be made or a recording has no such step.
DiffAnswer answer(const Inputs& inputs, const DiffQuestion& question, const Control& control);

}  // namespace memreplay
