#include "device/cuda/driver_pool.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/error.hpp"

namespace memreplay {
namespace {

/// Blocks as the driver places them, moved up inside a larger one where alignment asks for it.
class CudaBlocks : public DriverBlocks {
 public:
  explicit CudaBlocks(CudaExecution& execution) : execution_(execution) {}

  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override {
    const CUstream of_device = execution_.stream(stream);
    const Bytes asked = std::max<Bytes>(size, 1);  // the driver refuses to allocate nothing
    const Bytes more = alignment > 1 ? alignment - 1 : 0;
    std::optional<CUdeviceptr> base = obtain(asked, of_device);
    if (!base) return std::nullopt;
    bases_[*base] = *base;
    if ((*base & more) == 0) return DriverBlock{*base, asked};

    free(*base, stream);
    if (asked > std::numeric_limits<Bytes>::max() - more) return std::nullopt;
    base = obtain(asked + more, of_device);
    if (!base) return std::nullopt;
    const Address aligned = (*base + more) & ~more;
    bases_[aligned] = *base;
    return DriverBlock{aligned, asked + more};
  }

  void free(Address block, StreamIndex stream) override {
    const CUdeviceptr base = bases_.at(block);
    give_back(base, execution_.stream(stream));
    bases_.erase(block);
  }

 protected:
  virtual std::optional<CUdeviceptr> obtain(Bytes size, CUstream stream) = 0;
  virtual void give_back(CUdeviceptr base, CUstream stream) = 0;

  CudaExecution& execution_;
  std::unordered_map<Address, CUdeviceptr> bases_;  ///< by the address handed out
};

/// cudaMalloc and cudaFree. What is held is what the driver has less free than at the start.
class DirectBlocks final : public CudaBlocks {
 public:
  DirectBlocks(const DriverApi& driver, CudaExecution& execution)
      : CudaBlocks(execution), driver_(driver), free_at_start_(free_now()) {}

  ~DirectBlocks() override {
    for (const auto& [block, base] : bases_) driver_.discard(driver_.cuMemFree, base);
  }

  void trim() override {}

  Bytes held() override {
    const Bytes free = free_now();
    const Bytes held = free_at_start_ - std::min(free, free_at_start_);
    peak_held_ = std::max(peak_held_, held);
    grown_ = false;
    return held;
  }

  Bytes peak_held() override {
    if (grown_) held();
    return peak_held_;
  }

 private:
  std::optional<CUdeviceptr> obtain(Bytes size, CUstream) override {
    CUdeviceptr base = 0;
    if (!driver_.fits(driver_.cuMemAlloc, &base, size)) return std::nullopt;
    grown_ = true;
    return base;
  }

  // Between two frees it only grows, so a look before each misses no peak.
  void give_back(CUdeviceptr base, CUstream) override {
    peak_held();
    driver_.require(driver_.cuMemFree, base);
  }

  Bytes free_now() const {
    std::size_t free = 0;
    std::size_t total = 0;
    driver_.require(driver_.cuMemGetInfo, &free, &total);
    return free;
  }

  const DriverApi& driver_;
  Bytes free_at_start_;
  Bytes peak_held_ = 0;
  bool grown_ = false;  ///< since it was last looked at
};

struct Pool {
  explicit Pool(const DriverApi& of) : driver(of) {}
  ~Pool() {
    if (handle != nullptr) driver.discard(driver.cuMemPoolDestroy, handle);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void set(CUmemPool_attribute attribute, bool value) {
    int as_int = value ? 1 : 0;
    driver.require(driver.cuMemPoolSetAttribute, handle, attribute, static_cast<void*>(&as_int));
  }
  void set(CUmemPool_attribute attribute, Bytes value) {
    cuuint64_t bytes = value;
    driver.require(driver.cuMemPoolSetAttribute, handle, attribute, static_cast<void*>(&bytes));
  }
  Bytes get(CUmemPool_attribute attribute) const {
    cuuint64_t bytes = 0;
    driver.require(driver.cuMemPoolGetAttribute, handle, attribute, static_cast<void*>(&bytes));
    return bytes;
  }

  const DriverApi& driver;
  CUmemoryPool handle = nullptr;
};

/// cudaMallocAsync and cudaFreeAsync out of a pool that nobody else uses.
class StreamOrderedBlocks final : public CudaBlocks {
 public:
  StreamOrderedBlocks(const DriverApi& driver, CUdevice device, CudaExecution& execution,
                      const DriverAllocatorOptions& options)
      : CudaBlocks(execution), driver_(driver), pool_(driver) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    driver_.require(driver_.cuMemPoolCreate, &pool_.handle, &properties);
    pool_.set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, options.release_threshold);
    pool_.set(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
              options.reuse_follow_event_dependencies);
    pool_.set(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, options.reuse_allow_opportunistic);
    pool_.set(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
              options.reuse_allow_internal_dependencies);
  }

  // Freed after all work, which may use the blocks on any stream; a pool goes when it is empty.
  ~StreamOrderedBlocks() override {
    driver_.discard(driver_.cuCtxSynchronize);
    const CUstream default_stream = nullptr;
    for (const auto& [block, base] : bases_) {
      driver_.discard(driver_.cuMemFreeAsync, base, default_stream);
    }
    driver_.discard(driver_.cuCtxSynchronize);
  }

  /// The size is by how much the use of the pool grows: frees that end meanwhile can hide that.
  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override {
    const Bytes before = pool_.get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    std::optional<DriverBlock> block = CudaBlocks::allocate(size, alignment, stream);
    if (!block) return std::nullopt;
    const Bytes after = pool_.get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    block->size = std::max(block->size, after - std::min(before, after));
    return block;
  }

  void trim() override {
    driver_.require(driver_.cuCtxSynchronize);
    driver_.require(driver_.cuMemPoolTrimTo, pool_.handle, std::size_t{0});
  }

  Bytes held() override { return pool_.get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT); }
  Bytes peak_held() override { return pool_.get(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH); }

 private:
  std::optional<CUdeviceptr> obtain(Bytes size, CUstream stream) override {
    CUdeviceptr base = 0;
    if (!driver_.fits(driver_.cuMemAllocFromPoolAsync, &base, size, pool_.handle, stream)) {
      return std::nullopt;
    }
    return base;
  }

  void give_back(CUdeviceptr base, CUstream stream) override {
    driver_.require(driver_.cuMemFreeAsync, base, stream);
  }

  const DriverApi& driver_;
  Pool pool_;
};

}  // namespace

bool has_driver_blocks(const DriverApi& driver, CUdevice device,
                       DriverAllocatorOptions::Kind kind) {
  if (kind != DriverAllocatorOptions::Kind::stream_ordered) {
    return kind == DriverAllocatorOptions::Kind::direct;
  }
  int has_pools = 0;
  driver.require(driver.cuDeviceGetAttribute, &has_pools,
                 CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device);
  return has_pools != 0;
}

std::unique_ptr<DriverBlocks> open_driver_blocks(const DriverApi& driver, CUdevice device,
                                                 CudaExecution& execution,
                                                 const DriverAllocatorOptions& options) {
  if (options.kind == DriverAllocatorOptions::Kind::direct) {
    return std::make_unique<DirectBlocks>(driver, execution);
  }
  if (options.kind == DriverAllocatorOptions::Kind::malloc) {
    throw UsageError(driver.device() + ": malloc places blocks in the memory of this machine only");
  }
  if (!has_driver_blocks(driver, device, options.kind))
    throw UsageError(driver.device() + ": this GPU has no memory pools");
  return std::make_unique<StreamOrderedBlocks>(driver, device, execution, options);
}

}  // namespace memreplay
