#include "replay/program.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <span>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "trace/gate.hpp"

namespace memreplay {
namespace {

/// Addresses for a whole column, with memory only for the parts that are in use.
template <typename T>
class ReservedColumn {
 public:
  /// Reserves nothing where the column is not wanted. Throws std::runtime_error where the addresses
  /// cannot be had.
  explicit ReservedColumn(std::uint64_t size, bool wanted = true) : size_(wanted ? size : 0) {
    if (size_ == 0) return;
    const bool has_addresses = size_ <= SIZE_MAX / sizeof(T);
    void* reserved = has_addresses ? ::mmap(nullptr, size_ * sizeof(T), PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                   : MAP_FAILED;
    if (reserved == MAP_FAILED) {
      throw std::runtime_error(
          "the addresses for the columns of a long trace cannot be reserved (ulimit -v, or "
          "vm.overcommit_memory)");
    }
    values_ = static_cast<T*>(reserved);
  }
  ~ReservedColumn() {
    if (values_ != nullptr) ::munmap(values_, size_ * sizeof(T));
  }
  ReservedColumn(const ReservedColumn&) = delete;
  ReservedColumn& operator=(const ReservedColumn&) = delete;

  std::span<const T> first(std::uint64_t count) const {
    return {values_, static_cast<std::size_t>(std::min(count, size_))};
  }
  /// Zeros where the column is wanted and nothing is given.
  void fill(std::uint64_t from, const std::vector<T>& values) {
    if (values_ != nullptr) std::ranges::copy(values, values_ + from);
  }
  /// Gives the memory of what lies before `end` back.
  void drop_before(std::uint64_t end) {
    if (values_ == nullptr) return;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t bytes = end * sizeof(T) / page * page;
    if (bytes <= dropped_) return;
    ::madvise(reinterpret_cast<char*>(values_) + dropped_, bytes - dropped_, MADV_DONTNEED);
    dropped_ = bytes;
  }

 private:
  std::uint64_t size_;
  T* values_ = nullptr;
  std::uint64_t dropped_ = 0;  ///< bytes
};

/// Events that a reader may be ahead of what must be there.
constexpr std::uint64_t kFurtherAhead = 1 << 16;
/// Memory is given back for so many events at once: each time all processors are told.
constexpr std::uint64_t kDropped = 1 << 17;

class ColumnWindow final : public ProgramFeed {
 public:
  ColumnWindow(const Trace& trace, std::uint64_t end)
      : events_(trace.streamed->open(ColdColumns::of_requests)),
        end_(std::min<std::uint64_t>(end, trace.size())),
        size_(trace.size()),
        says_more_(trace.streamed->totals().requests_say_more) {}

  ~ColumnWindow() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  void advance(std::uint64_t event) override {
    const std::uint64_t needed = std::min(end_, event + kAhead);
    {
      std::unique_lock lock(mutex_);
      at_ = event;
      if (!reader_.joinable() && filled_ < end_) begin_reading();
      changed_.notify_all();
      while (filled_ < needed && !failure_) {
        reader_.joinable() ? changed_.wait(lock) : read_next(lock);
      }
      if (failure_) std::rethrow_exception(failure_);
    }
    if (event >= dropped_ + kDropped) drop_before(event);
  }

  void show(Program& program) const {
    program.ops = ops_.first(end_);
    program.align_log2 = align_log2_.first(end_);
    program.lane_of = lane_of_.first(end_);
    program.slots = slots_.first(end_);
    program.sizes = sizes_.first(end_);
    program.threads = threads_.first(end_);
    program.tags = tags_.first(end_);
    program.freed_before = freed_before_.first(end_);
    program.upper_end = upper_end_.first(end_);
    program.says_more = says_more_;
  }

 private:
  // Where there is no thread, `advance` reads itself.
  void begin_reading() {
    if (!may_have_thread_) return;
    try {
      reader_ = std::jthread([this] { read_ahead(); });
    } catch (const std::system_error&) {
      may_have_thread_ = false;
    }
  }

  void read_ahead() {
    std::unique_lock lock(mutex_);
    while (!stopped_ && !failure_ && filled_ < end_) {
      if (filled_ < at_ + kAhead + kFurtherAhead) {
        read_next(lock);
      } else {
        changed_.wait(lock);
      }
    }
  }

  /// What it writes to is nobody's before `filled_` says so.
  void read_next(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t from = filled_;
    std::uint64_t to = from;
    std::exception_ptr failure;
    lock.unlock();
    try {
      if (!events_->next(block_)) throw std::runtime_error("a trace ends before its last event");
      fill(from);
      to = from + block_.ops.size();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    filled_ = to;
    failure_ = failure;
    changed_.notify_all();
  }

  void fill(std::uint64_t from) {
    ops_.fill(from, block_.ops);
    align_log2_.fill(from, block_.align_log2);
    lane_of_.fill(from, block_.lane_of);
    slots_.fill(from, block_.slots);
    sizes_.fill(from, block_.sizes);
    threads_.fill(from, block_.threads);
    tags_.fill(from, block_.tags);
    freed_before_.fill(from, block_.freed_before);
    upper_end_.fill(from, block_.upper_end);
  }

  void drop_before(std::uint64_t event) {
    ops_.drop_before(event);
    align_log2_.drop_before(event);
    lane_of_.drop_before(event);
    slots_.drop_before(event);
    sizes_.drop_before(event);
    threads_.drop_before(event);
    tags_.drop_before(event);
    freed_before_.drop_before(event);
    upper_end_.drop_before(event);
    dropped_ = event;
  }

  const std::unique_ptr<EventStream> events_;
  const std::uint64_t end_;
  const std::uint64_t size_;
  const bool says_more_;
  ReservedColumn<Op> ops_{size_};
  ReservedColumn<std::uint8_t> align_log2_{size_};
  ReservedColumn<std::uint16_t> lane_of_{size_};
  ReservedColumn<Slot> slots_{size_};
  ReservedColumn<Bytes> sizes_{size_};
  ReservedColumn<std::uint32_t> threads_{size_, says_more_};
  ReservedColumn<std::uint32_t> tags_{size_, says_more_};
  ReservedColumn<std::uint64_t> freed_before_{size_, says_more_};
  ReservedColumn<std::uint8_t> upper_end_{size_, says_more_};
  EventColumns block_;         ///< the reader's own
  std::uint64_t dropped_ = 0;  ///< events whose memory was given back
  bool may_have_thread_ = true;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::uint64_t at_ = 0;      ///< the event that is played
  std::uint64_t filled_ = 0;  ///< events that can be read
  std::exception_ptr failure_;
  bool stopped_ = false;
  std::jthread reader_;  ///< ends before all else
};

class ProgramBuilder {
 public:
  ProgramBuilder(const Trace& trace, const ProgramOptions& options)
      : trace_(trace), options_(options), end_(std::min<std::uint64_t>(options.to, trace.size())) {}

  Program weave(const Reading* reading) {
    if (trace_.streamed) {
      view_streamed(trace_, end_, program_);
    } else {
      view_columns();
    }
    program_.lanes = trace_.lanes;
    program_.slot_count = trace_.slot_count;
    if (options_.scale != 1) scale_sizes();
    program_.start = &trace_.start;
    program_.starts_cold = options_.start == StartMode::cold;
    program_.keeps_cache = options_.ignore_empty_cache;
    program_.refusals_stand = options_.refusals_stand;
    if (!program_.starts_cold) add_blocks();
    if (reading != nullptr) add_completions(*reading);
    for (const std::uint64_t event : options_.insert_empty_cache) {
      if (event < end_) program_.acts.push_back({event, InferredCall::Kind::empty_cache});
    }
    if (reading != nullptr) add_calls(*reading);
    if (reading != nullptr) add_parkings(*reading);
    // What was added first comes first before the same event.
    std::ranges::stable_sort(program_.acts, {}, &InferredCall::before);
    return std::move(program_);
  }

 private:
  void view_columns() {
    program_.ops = played(trace_.ops);
    program_.align_log2 = played(trace_.align_log2);
    program_.lane_of = played(trace_.lane_of);
    program_.slots = played(trace_.slots);
    program_.sizes = played(trace_.sizes);
    program_.times_us = played(trace_.times_us);
    program_.threads = played(trace_.threads);
    program_.tags = played(trace_.tags);
    program_.freed_before = played(trace_.freed_before);
    program_.upper_end = played(trace_.upper_end);
    program_.says_more = !trace_.threads.empty() || !trace_.tags.empty() ||
                         !trace_.freed_before.empty() || !trace_.upper_end.empty();
  }

  template <typename T>
  std::span<const T> played(const std::vector<T>& column) const {
    return std::span(column).first(std::min<std::size_t>(end_, column.size()));
  }

  // A safe frontier counts frees, not bytes.
  void scale_sizes() {
    program_.rescaled.resize(end_);
    for (std::uint64_t event = 0; event < end_; ++event) {
      const Bytes size = trace_.sizes[event];
      program_.rescaled[event] =
          trace_.ops[event] == Op::safe_frontier ? size : scaled(size, options_.scale);
    }
    program_.sizes = program_.rescaled;
  }

  void add_blocks() {
    for (const SegmentInfo& segment : trace_.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free) continue;
        program_.blocks.push_back(
            {block.slot, block.state == BlockState::pending,
             Request{scaled(block.requested, options_.scale), 0, segment.stream, segment.pool}});
      }
    }
  }

  // What is due earlier comes first, and never before the recording has completed it.
  void add_completions(const Reading& reading) {
    struct Completion {
      std::uint64_t due;
      InferredCall act;
    };
    std::vector<Completion> completions;
    std::uint32_t parked = 0;
    for (const Deferral& deferral : reading.deferrals) {
      if (deferral.event >= end_) break;
      const std::uint64_t before = std::max(deferral.due, deferral.event + 1);
      const InferredCall act{before, InferredCall::Kind::complete, 0, parked++};
      if (deferral.due != UINT64_MAX) completions.push_back({deferral.due, act});
    }
    std::ranges::stable_sort(completions, {}, &Completion::due);
    for (const Completion& completion : completions) program_.acts.push_back(completion.act);
  }

  void add_calls(const Reading& reading) {
    for (const ProgramCall& call : reading.calls) {
      if (call.event >= end_ && !is_behind_all(call.event)) break;
      if (const auto kind = act_of(call.kind)) {
        program_.acts.push_back({call.event, *kind, call.pool});
      }
    }
  }

  // Where the program called last, a trace that was made from a recording may have no event.
  bool is_behind_all(std::uint64_t event) const { return event == end_ && end_ == trace_.size(); }

  std::optional<InferredCall::Kind> act_of(ProgramCall::Kind kind) const {
    switch (kind) {
      case ProgramCall::Kind::empty_cache:
        if (options_.ignore_empty_cache) return std::nullopt;
        return InferredCall::Kind::empty_cache;
      case ProgramCall::Kind::end_pool:
        return options_.ignore_empty_cache ? InferredCall::Kind::release_pool
                                           : InferredCall::Kind::end_pool;
      case ProgramCall::Kind::release_pool:
        break;
    }
    return InferredCall::Kind::release_pool;
  }

  void add_parkings(const Reading& reading) {
    for (const Deferral& deferral : reading.deferrals) {
      if (deferral.event >= end_) break;
      program_.acts.push_back({deferral.event, InferredCall::Kind::park, 0, program_.parkings++});
    }
  }

  const Trace& trace_;
  const ProgramOptions& options_;
  std::uint64_t end_;
  Program program_;
};

}  // namespace

Program program_of(const Trace& trace, const Reading* reading, const ProgramOptions& options) {
  assert(!fault_in(trace));
  return ProgramBuilder(trace, options).weave(reading);
}

Program program_of(const Subject& subject, const ProgramOptions& options) {
  return program_of(subject.trace(), subject.reading(), options);
}

void view_streamed(const Trace& trace, std::uint64_t end, Program& program) {
  auto window = std::make_unique<ColumnWindow>(trace, end);
  window->show(program);
  program.feed = std::move(window);
}

}  // namespace memreplay
