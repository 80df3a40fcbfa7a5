#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/call_times.hpp"
#include "core/real_use.hpp"
#include "core/request.hpp"
#include "core/units.hpp"
#include "device/device_model.hpp"
#include "device/real/touch_pattern.hpp"

/// Memory that exists: of a GPU, or of this machine. Addresses are those of the driver.
namespace memreplay {

/// A driver failed, in another way than by being full, or there is none. `what()` begins with the
/// device: "cuda:0: cuMemMap: CUDA_ERROR_INVALID_VALUE (invalid argument)".
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Addresses of real memory.
struct RealRange {
  Address address = 0;
  Bytes size = 0;
};

/// A block whose pattern was gone when it was checked.
struct TouchMismatch {
  std::uint64_t tag = 0;
  Address address = 0;  ///< the lowest that is known to differ
};

/// Ability to do work on the memory, in the order of streams. Several trace streams may share one
/// stream of the device.
class Execution {
 public:
  virtual ~Execution() = default;

  /// Takes what `fill` and `check` need for themselves: before memory is counted.
  virtual void prepare() {}
  /// Writes the pattern of `tag` into the range, or compares it; never with Touch::none. A block's
  /// ranges come one after the other.
  virtual void fill(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) = 0;
  virtual void check(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) = 0;
  /// Waits for every stream; the blocks found different since the last call, in the order of their
  /// checks as far as they are known: at least one where there is any.
  virtual std::vector<TouchMismatch> mismatches() = 0;

  /// A point in a stream's work: all that was asked of it before. To be dropped by `forget`.
  using Point = std::uint32_t;
  virtual Point record(StreamIndex stream) = 0;
  virtual void forget(Point point) = 0;
  /// The host waits until the point is reached.
  virtual void wait(Point point) = 0;
  /// The stream waits: whatever is asked of it from now on follows the point.
  virtual void wait(StreamIndex stream, Point point) = 0;
  /// True where the point is reached already; does not wait.
  virtual bool reached(Point point) = 0;
  /// True where two streams of the trace are one of the device.
  virtual bool same(StreamIndex a, StreamIndex b) const = 0;
  /// The host waits for all streams.
  virtual void synchronise() = 0;

  /// Starts the device's clock on the stream, before a call that `stop_clock` follows; pairs do not
  /// nest. Does nothing where there is no such clock.
  virtual void start_clock(StreamIndex) {}
  virtual void stop_clock(CallKind) {}
  /// Waits for the device's clock, adds what it measured so far, and forgets it.
  virtual void collect(TimesByKind&) {}
};

/// The driver's own allocator; DriverAllocator says what each call does.
class DriverBlocks {
 public:
  virtual ~DriverBlocks() = default;
  virtual std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) = 0;
  virtual void free(Address block, StreamIndex stream) = 0;
  virtual void trim() = 0;
  /// Bytes that the allocator holds of the device now; peak_held: at most since it was opened.
  virtual Bytes held() = 0;
  virtual Bytes peak_held() = 0;
};

/// The calls of a driver, one each. Unset or false: the device is full; the error is cleared.
/// Every other failure throws DeviceError, and what was to be returned can be returned once more.
/// Whoever holds something gives it back before this ends.
class RealMemory {
 public:
  using Piece = std::uint64_t;  ///< physical memory

  virtual ~RealMemory() = default;
  virtual const RealMemoryFacts& facts() const = 0;
  virtual Bytes free_bytes() = 0;  ///< now, as the driver has it

  virtual std::optional<Address> allocate(Bytes size) = 0;
  virtual void free(Address region) = 0;

  // Where facts().has_virtual_memory. Sizes are multiples of the granularity.
  virtual std::optional<Address> reserve(Bytes size) = 0;
  virtual void release(Address at, Bytes size) = 0;
  virtual std::optional<Piece> create(Bytes size) = 0;
  virtual void destroy(Piece piece) = 0;
  /// Puts a whole piece behind addresses, without access to it yet.
  virtual bool map(Address at, Bytes size, Piece piece) = 0;
  /// Allows the use of any number of pieces mapped side by side.
  virtual bool set_access(Address at, Bytes size) = 0;
  /// Undoes a `map`, by its whole range.
  virtual void unmap(Address at, Bytes size) = 0;

  virtual bool has_allocator(DriverAllocatorOptions::Kind kind) const = 0;
  /// Opens the driver's allocator. Throws UsageError where it has none of that kind, or the library
  /// cannot be loaded.
  virtual std::unique_ptr<DriverBlocks> open_allocator(const DriverAllocatorOptions& options) = 0;

  virtual Execution& execution() = 0;

  virtual void begin_measuring() = 0;
  /// Looks at the memory in use: after whatever may have made it more.
  virtual void sample() = 0;
  virtual MeasuredMemory measured() = 0;
};

}  // namespace memreplay
