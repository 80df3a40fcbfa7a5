#include "cuda/cuda_recording.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "cuda/cuda_format.hpp"
#include "spool/block_trace.hpp"
#include "spool/recording.hpp"

namespace memreplay::capture {
namespace {

/// Names handles by the order in which they come.
class Numbers {
 public:
  explicit Numbers(std::uint64_t first) : next_(first) {}
  std::uint64_t of(std::uint64_t handle) {
    const auto [place, is_new] = numbers_.emplace(handle, next_);
    next_ += is_new;
    return place->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> numbers_;
  std::uint64_t next_;
};

class CudaReader {
 public:
  CudaReader(const SpoolFile& spool, bool is_running) : spool_(spool), records_(spool) {
    summary_.is_running = is_running;
  }

  void read() {
    while (const Record* record = records_.next()) {
      take(*static_cast<const CudaRecord*>(record));
    }
    summary_.missing = records_.missing();
    summary_.stopped_by = static_cast<int>(spool_.head().stopped_by);
    summary_.unrecorded_forks = spool_.head().unrecorded_forks;
    for (const auto& [gpu, trace] : traces_) {
      summary_.live_blocks += trace.live_blocks();
      summary_.live_bytes += trace.live_bytes();
    }
  }

  const SpoolSummary& summary() const { return summary_; }
  void hand_on(Recording& recording, EventSink& sink);

 private:
  BlockTrace& trace_of(int gpu) { return traces_.try_emplace(gpu, gpu).first->second; }
  std::uint64_t stream_number(std::uint64_t handle) {
    return handle == 0 ? 0 : streams_.of(handle);
  }
  PoolId pool_of(const CudaRecord& record);
  Block block_of(const CudaRecord& record) {
    return {bytes_of(record), 0, stream_number(record.stream), pool_of(record)};
  }

  void take(const CudaRecord& record);
  void allocate(const CudaRecord& record);
  void free(const CudaRecord& record);
  void end(Address address, std::optional<std::uint64_t> stream);
  void end_physical(std::optional<PhysicalMemory::Piece> piece) {
    if (piece) end(*piece, std::nullopt);
  }

  const SpoolFile& spool_;
  SpoolRecords records_;
  std::map<int, BlockTrace> traces_;
  AddressTable<int> gpu_of_;  ///< by address of a live block, or its piece
  Numbers streams_{1};
  Numbers pools_{1};
  PhysicalMemory physical_;
  Made made_;
  SpoolSummary summary_;
};

PoolId CudaReader::pool_of(const CudaRecord& record) {
  switch (record.kind) {
    case MemoryKind::stream_ordered:
      return record.object == 0 ? PoolId{0, 1} : PoolId{1, pools_.of(record.object)};
    case MemoryKind::managed:
      return {0, 2};
    case MemoryKind::physical:
      return {0, 3};
    default:
      return {};
  }
}

void CudaReader::take(const CudaRecord& record) {
  const std::int64_t time_us = (record.time_ns - spool_.head().begun_ns) / 1000;
  made_ = {std::max(made_.time_us, time_us), records_.thread()};
  if (record.kind == MemoryKind::addresses) {
    if (call_of(record) == Call::map) physical_.map(record.address, record.object);
    if (call_of(record) == Call::unmap) {
      for (const auto piece : physical_.unmap(record.address, bytes_of(record)))
        end_physical(piece);
    }
    return;
  }
  switch (call_of(record)) {
    case Call::allocate:
      return allocate(record);
    case Call::free:
      return free(record);
    case Call::refused:
      ++summary_.refused;
      return trace_of(record.device).refuse(block_of(record), made_);
    case Call::failed:
      ++trace_of(record.device).coverage().dropped["requests that failed for another reason"];
      return;
    default:
      return;
  }
}

void CudaReader::allocate(const CudaRecord& record) {
  const bool is_physical = record.kind == MemoryKind::physical;
  const Address address = is_physical ? physical_.create(record.address) : record.address;
  trace_of(record.device).allocate(address, block_of(record), made_);
  *gpu_of_.emplace(address).first = record.device;
  ++summary_.allocations;
  Bytes live = 0;
  for (const auto& [gpu, trace] : traces_) live += trace.live_bytes();
  summary_.peak_bytes = std::max(summary_.peak_bytes, live);
}

void CudaReader::free(const CudaRecord& record) {
  if (record.kind == MemoryKind::physical) return end_physical(physical_.release(record.address));
  const bool has_stream = record.kind == MemoryKind::stream_ordered;
  end(record.address, has_stream ? std::optional(stream_number(record.stream)) : std::nullopt);
}

void CudaReader::end(Address address, std::optional<std::uint64_t> stream) {
  const int* const gpu = gpu_of_.find(address);
  if (gpu == nullptr) {
    ++summary_.unknown_frees;
    return;
  }
  BlockTrace& trace = trace_of(*gpu);
  trace.free(address, made_, stream);
  gpu_of_.erase(address);
  ++summary_.frees;
}

void CudaReader::hand_on(Recording& recording, EventSink& sink) {
  for (auto& [gpu, trace] : traces_) {
    auto& coverage = trace.coverage();
    coverage.complete = summary_.is_complete();
    coverage.gapless = coverage.complete;
    sink.add(recording.traces.size(), trace.events());
    trace.clear_events();
    recording.traces.push_back(trace.finish());
  }
  if (traces_.empty()) recording.traces.push_back(BlockTrace(0).finish());
}

}  // namespace

SpoolSummary stream_cuda(const SpooledProcess& process, EventSink& sink) {
  const SpoolFile spool(process.spool);
  if (spool.head().record_bytes != sizeof(CudaRecord)) {
    throw InputError(process.spool, "", "records of another size; expected those of 'cuda'");
  }
  CudaReader reader(spool, process.is_running);
  reader.read();
  Recording recording = recording_of(process);
  reader.hand_on(recording, sink);
  sink.finish(recording);
  return reader.summary();
}

PhysicalMemory::Piece PhysicalMemory::create(std::uint64_t handle) {
  pieces_[handle] = next_;
  states_[next_] = {};
  return next_++;
}

void PhysicalMemory::map(Address from, std::uint64_t handle) {
  const auto piece = pieces_.find(handle);
  if (piece == pieces_.end()) return;
  if (mappings_.emplace(from, piece->second).second) ++states_[piece->second].mappings;
}

std::optional<PhysicalMemory::Piece> PhysicalMemory::release(std::uint64_t handle) {
  const auto known = pieces_.find(handle);
  if (known == pieces_.end()) return std::nullopt;
  const Piece piece = known->second;
  pieces_.erase(known);
  states_[piece].is_released = true;
  return ends(piece) ? std::optional(piece) : std::nullopt;
}

std::vector<PhysicalMemory::Piece> PhysicalMemory::unmap(Address from, Bytes size) {
  std::vector<Piece> ended;
  for (auto at = mappings_.lower_bound(from); at != mappings_.end() && at->first - from < size;) {
    const Piece piece = at->second;
    at = mappings_.erase(at);
    --states_[piece].mappings;
    if (ends(piece)) ended.push_back(piece);
  }
  return ended;
}

bool PhysicalMemory::ends(Piece piece) {
  const State& state = states_[piece];
  const bool is_over = state.is_released && state.mappings == 0;
  if (is_over) states_.erase(piece);
  return is_over;
}

}  // namespace memreplay::capture
