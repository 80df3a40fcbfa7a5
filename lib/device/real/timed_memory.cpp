#include "device/real/timed_memory.hpp"

#include <chrono>
#include <exception>
#include <type_traits>
#include <utility>

namespace memreplay {
namespace {

/// Hands on the nanoseconds from its making to its end.
template <typename Use>
class Stopwatch {
 public:
  explicit Stopwatch(const Use& use) : use_(use) {}
  ~Stopwatch() {
    const auto took = std::chrono::steady_clock::now() - began_;
    use_(static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const Use& use_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

template <typename Call>
auto TimedMemory::timed(CallKind kind, const Call& call) {
  const auto add = [&](std::uint64_t ns) {
    times_[static_cast<std::size_t>(kind)].host.add(ns);
    total_ns_ += ns;
  };
  const Stopwatch watch(add);
  return call();
}

template <typename Call>
auto TimedMemory::clocked(CallKind kind, StreamIndex stream, const Call& call) {
  throw_what_the_clock_said();
  Execution& clock = memory_.execution();
  clock.start_clock(stream);
  if constexpr (std::is_void_v<decltype(call())>) {
    timed(kind, call);
    stop_clock(kind);
  } else {
    auto result = timed(kind, call);
    stop_clock(kind);
    return result;
  }
}

// The call was made, and who made it must hear what came of it.
void TimedMemory::stop_clock(CallKind kind) {
  try {
    memory_.execution().stop_clock(kind);
  } catch (const DeviceError&) {
    of_clock_ = std::current_exception();
  }
}

void TimedMemory::throw_what_the_clock_said() {
  if (of_clock_) std::rethrow_exception(std::exchange(of_clock_, nullptr));
}

/// The driver's own allocator, timed.
class TimedMemory::Blocks final : public DriverBlocks {
 public:
  Blocks(TimedMemory& memory, std::unique_ptr<DriverBlocks> blocks)
      : memory_(memory), blocks_(std::move(blocks)) {}

  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override {
    return memory_.clocked(CallKind::block_alloc, stream,
                           [&] { return blocks_->allocate(size, alignment, stream); });
  }
  void free(Address block, StreamIndex stream) override {
    memory_.clocked(CallKind::block_free, stream, [&] { blocks_->free(block, stream); });
  }
  void trim() override { blocks_->trim(); }
  Bytes held() override { return blocks_->held(); }
  Bytes peak_held() override { return blocks_->peak_held(); }

 private:
  TimedMemory& memory_;
  std::unique_ptr<DriverBlocks> blocks_;
};

class TimedMemory::Work final : public Execution {
 public:
  Work(TimedMemory& memory, Execution& work) : memory_(memory), work_(work) {}

  void fill(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) override {
    memory_.clocked(CallKind::fill, stream, [&] { work_.fill(stream, range, tag, touch); });
  }
  void check(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) override {
    memory_.clocked(CallKind::check, stream, [&] { work_.check(stream, range, tag, touch); });
  }
  std::vector<TouchMismatch> mismatches() override { return work_.mismatches(); }
  Point record(StreamIndex stream) override { return work_.record(stream); }
  void forget(Point point) override { work_.forget(point); }
  void wait(Point point) override {
    memory_.timed(CallKind::wait, [&] { work_.wait(point); });
  }
  void wait(StreamIndex stream, Point point) override {
    memory_.timed(CallKind::wait, [&] { work_.wait(stream, point); });
  }
  bool reached(Point point) override { return work_.reached(point); }
  bool same(StreamIndex a, StreamIndex b) const override { return work_.same(a, b); }
  void synchronise() override {
    memory_.timed(CallKind::synchronise, [&] { work_.synchronise(); });
  }

 private:
  TimedMemory& memory_;
  Execution& work_;
};

TimedMemory::TimedMemory(RealMemory& memory)
    : memory_(memory), work_(std::make_unique<Work>(*this, memory.execution())) {}

TimedMemory::~TimedMemory() = default;

const TimesByKind& TimedMemory::times() {
  throw_what_the_clock_said();
  memory_.execution().collect(times_);
  return times_;
}

std::optional<Address> TimedMemory::allocate(Bytes size) {
  return clocked(CallKind::alloc, 0, [&] { return memory_.allocate(size); });
}

void TimedMemory::free(Address region) {
  clocked(CallKind::free, 0, [&] { memory_.free(region); });
}

std::optional<Address> TimedMemory::reserve(Bytes size) {
  return timed(CallKind::reserve, [&] { return memory_.reserve(size); });
}

void TimedMemory::release(Address at, Bytes size) {
  timed(CallKind::release, [&] { memory_.release(at, size); });
}

std::optional<RealMemory::Piece> TimedMemory::create(Bytes size) {
  return clocked(CallKind::create, 0, [&] { return memory_.create(size); });
}

void TimedMemory::destroy(Piece piece) {
  clocked(CallKind::destroy, 0, [&] { memory_.destroy(piece); });
}

bool TimedMemory::map(Address at, Bytes size, Piece piece) {
  return clocked(CallKind::map, 0, [&] { return memory_.map(at, size, piece); });
}

bool TimedMemory::set_access(Address at, Bytes size) {
  return clocked(CallKind::access, 0, [&] { return memory_.set_access(at, size); });
}

void TimedMemory::unmap(Address at, Bytes size) {
  clocked(CallKind::unmap, 0, [&] { memory_.unmap(at, size); });
}

std::unique_ptr<DriverBlocks> TimedMemory::open_allocator(const DriverAllocatorOptions& options) {
  return std::make_unique<Blocks>(*this, memory_.open_allocator(options));
}

Execution& TimedMemory::execution() { return *work_; }

namespace {

template <typename Call>
auto adding(std::uint64_t& total, const Call& call) {
  const auto add = [&](std::uint64_t ns) { total += ns; };
  const Stopwatch watch(add);
  return call();
}

}  // namespace

std::unique_ptr<DeviceModel> TimedDevice::clone() const { return inner().clone(); }

std::optional<Address> TimedDevice::obtain(Bytes size) {
  return adding(total_ns_, [&] { return DeviceWrapper::obtain(size); });
}

void TimedDevice::give_back(Address region) {
  adding(total_ns_, [&] { DeviceWrapper::give_back(region); });
}

std::optional<Address> TimedDevice::reserve(Bytes size) {
  return adding(total_ns_, [&] { return DeviceWrapper::reserve(size); });
}

bool TimedDevice::map(Address at, Bytes size, Bytes granule) {
  return adding(total_ns_, [&] { return DeviceWrapper::map(at, size, granule); });
}

void TimedDevice::unmap(Address at, Bytes size) {
  adding(total_ns_, [&] { DeviceWrapper::unmap(at, size); });
}

void TimedDevice::alias(Address at, Address of, Bytes size, Bytes granule) {
  adding(total_ns_, [&] { DeviceWrapper::alias(at, of, size, granule); });
}

void TimedDevice::unalias(Address at) {
  adding(total_ns_, [&] { DeviceWrapper::unalias(at); });
}

void TimedDevice::release(Address at) {
  adding(total_ns_, [&] { DeviceWrapper::release(at); });
}

std::optional<DriverBlock> TimedDevice::allocate(Bytes size, Bytes alignment, StreamIndex stream) {
  return adding(total_ns_, [&] { return DeviceWrapper::allocate(size, alignment, stream); });
}

void TimedDevice::free(Address block, StreamIndex stream) {
  adding(total_ns_, [&] { DeviceWrapper::free(block, stream); });
}

void TimedDevice::trim() {
  adding(total_ns_, [&] { DeviceWrapper::trim(); });
}

}  // namespace memreplay
