#include <gtest/gtest.h>

#include <string>

#include "device/simulated_device.hpp"
#include "replay/replay.hpp"
#include "steps.hpp"

namespace memreplay {
namespace {

/// Writes down every call that it gets: `a`llocate, `f`ree, `r`equest_free and `c`omplete_free with
/// the handle, which counts the requests. Serves 1000 bytes at most.
class Diary final : public Strategy, public PrivatePools {
 public:
  std::unique_ptr<Strategy> clone(DeviceModel&) const override {
    return std::make_unique<Diary>(*this);
  }
  std::optional<Placement> allocate(const Request& request) override {
    const Handle handle = next_++;
    note("a", handle);
    if (request.size > 1000) return std::nullopt;
    return Placement{handle * Address{1000}, request.size, handle};
  }
  void free(Handle block, FreeOrigin) override { note("f", block); }
  void request_free(Handle block) override { note("r", block); }
  void complete_free(Handle block) override { note("c", block); }
  void empty_cache() override { calls += "empty "; }
  void release_pool(PoolIndex pool, PoolCache cache) override {
    note(cache == PoolCache::returned ? "end" : "off", pool);
  }
  Abilities abilities() override { return {.pools = this}; }
  FreeSpace free_space() const override { return {}; }
  std::vector<AddressRange> free_ranges() const override { return {}; }
  MemoryState memory_state() const override { return {}; }

  std::string calls;

 private:
  void note(const char* what, std::uint32_t number) {
    calls += what + std::to_string(number) + ' ';
  }

  Handle next_ = 0;
};

/// What a program asked for in its order, with `|` after each event.
class Bars final : public Watcher {
 public:
  explicit Bars(Diary& diary) : diary_(diary) {}
  void on_late_completion(std::uint64_t event, const Placement&) override {
    diary_.calls += "at" + std::to_string(event) + ' ';
  }
  void on_event(const EventState&, const Strategy&) override { diary_.calls += "| "; }

 private:
  Diary& diary_;
};

std::string asked(const Trace& trace, const Reading& reading, const ProgramOptions& options = {}) {
  SimulatedDevice device;
  Diary diary;
  Bars bars(diary);
  replay(program_of(trace, &reading, options), diary, device, {.watcher = &bars});
  return diary.calls;
}

using Call = ProgramCall::Kind;

TEST(Order, BeforeAnEventComeCompletionsInsertedCallsAndTheProgramsOwn) {
  const Trace trace = trace_of({{Op::allocate, 0, 8},
                                {Op::free_requested, 0, 8},
                                {Op::free_completed, 0, 8},
                                {Op::allocate, 1, 8}});
  Reading reading;
  reading.deferrals = {{.event = 2, .due = 3}};
  reading.calls = {{.event = 3, .kind = Call::end_pool, .pool = 2},
                   {.event = 3, .kind = Call::release_pool, .pool = 1},
                   {.event = 3, .kind = Call::end_pool, .pool = 1}};
  EXPECT_EQ(asked(trace, reading, {.insert_empty_cache = {3}}),
            "a0 | r0 | | c0 at3 empty end2 off1 end1 a1 | ");
}

TEST(Order, WhatIsDueEarlierIsCompletedFirstThenWhatWaitsLonger) {
  const Trace trace = trace_of({{Op::allocate, 0, 8},
                                {Op::allocate, 1, 8},
                                {Op::allocate, 2, 8},
                                {Op::free_requested, 0, 8},
                                {Op::free_requested, 1, 8},
                                {Op::free_requested, 2, 8},
                                {Op::free_completed, 0, 8},
                                {Op::free_completed, 1, 8},
                                {Op::free_completed, 2, 8},
                                {Op::allocate, 0, 8}});
  Reading reading;
  reading.deferrals = {{.event = 6, .due = 9}, {.event = 7, .due = 9}, {.event = 8, .due = 8}};
  EXPECT_EQ(asked(trace, reading),
            "a0 | a1 | a2 | r0 | r1 | r2 | | | | c2 at9 c0 at9 c1 at9 a3 | ");
}

TEST(Order, ACompletionThatIsDueAtItsOwnEventComesBeforeTheNext) {
  const Trace trace = trace_of({{Op::allocate, 0, 8},
                                {Op::free_requested, 0, 8},
                                {Op::free_completed, 0, 8},
                                {Op::marker, kNoSlot, 0}});
  Reading reading;
  reading.deferrals = {{.event = 2, .due = 2}};
  EXPECT_EQ(asked(trace, reading, {.insert_empty_cache = {2}}), "a0 | r0 | empty | c0 at3 | ");
}

TEST(Order, ABlockThatWasNeverPlacedIsNeverCompletedNorIsOneThatIsNeverDue) {
  const Trace trace = trace_of({{Op::allocate, 0, 2000},
                                {Op::allocate, 1, 8},
                                {Op::free_requested, 0, 2000},
                                {Op::free_completed, 0, 2000},
                                {Op::free_requested, 1, 8},
                                {Op::free_completed, 1, 8},
                                {Op::allocate, 0, 8}});
  Reading reading;
  reading.deferrals = {{.event = 3, .due = 6}, {.event = 5, .due = UINT64_MAX}};
  EXPECT_EQ(asked(trace, reading), "a0 | a1 | | | r1 | | a2 | ");
}

TEST(Order, AFreedSlotIsTakenAgainWhileItsLastBlockWaits) {
  const Trace trace = trace_of({{Op::allocate, 0, 8},
                                {Op::free_requested, 0, 8},
                                {Op::free_completed, 0, 8},
                                {Op::allocate, 0, 8},
                                {Op::free, 0, 8},
                                {Op::marker, kNoSlot, 0}});
  Reading reading;
  reading.deferrals = {{.event = 2, .due = 5}};
  EXPECT_EQ(asked(trace, reading), "a0 | r0 | | a1 | f1 | c0 at5 | ");
}

TEST(Order, WithoutEmptyCachePoolsEndAndWhatIsInsertedIsCalledAllTheSame) {
  const Trace trace = trace_of({{Op::empty_cache, kNoSlot, 0}, {Op::allocate, 0, 8}});
  Reading reading;
  reading.calls = {{.event = 1, .kind = Call::empty_cache},
                   {.event = 1, .kind = Call::end_pool, .pool = 1}};
  EXPECT_EQ(asked(trace, reading), "empty | empty end1 a0 | ");
  EXPECT_EQ(asked(trace, reading, {.ignore_empty_cache = true, .insert_empty_cache = {1}}),
            "| empty off1 a0 | ");
}

TEST(Order, WhatTheProgramDoesBehindTheEndIsLeftOut) {
  const Trace trace = trace_of({{Op::allocate, 0, 8},
                                {Op::free_requested, 0, 8},
                                {Op::free_completed, 0, 8},
                                {Op::allocate, 1, 8},
                                {Op::allocate, 2, 8}});
  Reading reading;
  reading.deferrals = {{.event = 2, .due = 4}};
  reading.calls = {{.event = 3, .kind = Call::empty_cache},
                   {.event = 4, .kind = Call::empty_cache}};
  EXPECT_EQ(asked(trace, reading, {.to = 4, .insert_empty_cache = {4, 9}}),
            "a0 | r0 | | empty a1 | ");
}

TEST(Order, WhatTheProgramCallsBehindItsLastEventIsCalledThere) {
  const Trace trace = trace_of({{Op::allocate, 0, 8}, {Op::free, 0, 8}});
  Reading reading;
  reading.calls = {{.event = 2, .kind = Call::empty_cache},
                   {.event = 2, .kind = Call::end_pool, .pool = 1}};
  EXPECT_EQ(asked(trace, reading), "a0 | f0 | empty end1 ");
  EXPECT_EQ(asked(trace, reading, {.ignore_empty_cache = true}), "a0 | f0 | off1 ");
}

}  // namespace
}  // namespace memreplay
