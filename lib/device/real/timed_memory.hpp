#pragma once

#include <exception>
#include <memory>

#include "device/device_wrapper.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {

/// Times every call to the driver, by the host's clock and by the device's where it has one.
class TimedMemory final : public RealMemory {
 public:
  /// `memory` outlives this.
  explicit TimedMemory(RealMemory& memory);
  ~TimedMemory() override;

  /// The times of all calls so far; waits for the device's clock.
  const TimesByKind& times();
  /// The time of all calls so far, by the host's clock; always one object.
  const std::uint64_t& total_ns() const { return total_ns_; }

  const RealMemoryFacts& facts() const override { return memory_.facts(); }
  Bytes free_bytes() override { return memory_.free_bytes(); }
  std::optional<Address> allocate(Bytes size) override;
  void free(Address region) override;
  std::optional<Address> reserve(Bytes size) override;
  void release(Address at, Bytes size) override;
  std::optional<Piece> create(Bytes size) override;
  void destroy(Piece piece) override;
  bool map(Address at, Bytes size, Piece piece) override;
  bool set_access(Address at, Bytes size) override;
  void unmap(Address at, Bytes size) override;
  bool has_allocator(DriverAllocatorOptions::Kind kind) const override {
    return memory_.has_allocator(kind);
  }
  std::unique_ptr<DriverBlocks> open_allocator(const DriverAllocatorOptions& options) override;
  Execution& execution() override;
  void begin_measuring() override { memory_.begin_measuring(); }
  void sample() override { memory_.sample(); }
  MeasuredMemory measured() override { return memory_.measured(); }

 private:
  class Blocks;
  class Work;

  /// Runs the call and adds what it took by the host's clock.
  template <typename Call>
  auto timed(CallKind kind, const Call& call);
  /// Runs the call and adds what it took by the host's clock, and by the device's on that stream.
  template <typename Call>
  auto clocked(CallKind kind, StreamIndex stream, const Call& call);
  void stop_clock(CallKind kind);
  void throw_what_the_clock_said();

  RealMemory& memory_;
  std::unique_ptr<Work> work_;
  TimesByKind times_;
  std::uint64_t total_ns_ = 0;
  std::exception_ptr of_clock_;  ///< the clock failed after a call; the next call says so
};

/// Adds up what the calls to a device took, whatever it does in them.
class TimedDevice final : public DeviceWrapper {
 public:
  using DeviceWrapper::DeviceWrapper;

  /// The time of all calls so far; always one object.
  const std::uint64_t& total_ns() const { return total_ns_; }

  std::unique_ptr<DeviceModel> clone() const override;
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  std::optional<Address> reserve(Bytes size) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void alias(Address at, Address of, Bytes size, Bytes granule) override;
  void unalias(Address at) override;
  void release(Address at) override;
  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override;
  void free(Address block, StreamIndex stream) override;
  void trim() override;

 private:
  std::uint64_t total_ns_ = 0;
};

}  // namespace memreplay
