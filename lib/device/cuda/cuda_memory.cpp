#include "device/cuda/cuda_memory.hpp"

#include <algorithm>
#include <array>

#include "device/cuda/cuda_execution.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/driver_pool.hpp"

namespace memreplay {
namespace {

constexpr Bytes kUsualGranularity = 2 * kMiB;

CUdevice open_device(const DriverApi& driver, int ordinal) {
  const CUresult result = driver.cuInit.function(0);
  if (result == CUDA_ERROR_NO_DEVICE) throw DeviceError(driver.device() + ": there is no GPU");
  if (result != CUDA_SUCCESS) driver.fail(driver.cuInit.name, result);
  int count = 0;
  driver.require(driver.cuDeviceGetCount, &count);
  if (ordinal < 0 || ordinal >= count) {
    throw DeviceError(driver.device() + ": " +
                      (count == 0   ? std::string("there is no GPU")
                       : count == 1 ? std::string("there is one GPU, cuda:0")
                                    : "there are " + std::to_string(count) +
                                          " GPUs, cuda:0 to cuda:" + std::to_string(count - 1)));
  }
  CUdevice device = 0;
  driver.require(driver.cuDeviceGet, &device, ordinal);
  return device;
}

/// The context that the runtime library would use; current in this thread from then on.
class PrimaryContext {
 public:
  PrimaryContext(const DriverApi& driver, CUdevice device) : driver_(driver), device_(device) {
    CUcontext context = nullptr;
    driver_.require(driver_.cuDevicePrimaryCtxRetain, &context, device_);
    const CUresult result = driver_.cuCtxSetCurrent.function(context);
    if (result != CUDA_SUCCESS) {
      driver_.discard(driver_.cuDevicePrimaryCtxRelease, device_);
      driver_.fail(driver_.cuCtxSetCurrent.name, result);
    }
  }
  ~PrimaryContext() { driver_.discard(driver_.cuDevicePrimaryCtxRelease, device_); }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

 private:
  const DriverApi& driver_;
  CUdevice device_;
};

CUmemAllocationProp properties_of_piece(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

RealMemoryFacts facts_of(const DriverApi& driver, CUdevice device) {
  RealMemoryFacts facts;
  facts.kind = "cuda";
  std::array<char, 256> name{};
  driver.require(driver.cuDeviceGetName, name.data(), static_cast<int>(name.size()), device);
  facts.name = name.data();
  std::size_t total = 0;
  driver.require(driver.cuDeviceTotalMem, &total, device);
  facts.total = total;

  const auto has = [&](CUdevice_attribute attribute) {
    int value = 0;
    driver.require(driver.cuDeviceGetAttribute, &value, attribute, device);
    return value != 0;
  };
  // The time limit of kernels is there for the sake of a screen.
  facts.has_display = has(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
  facts.has_virtual_memory = has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  facts.granularity = kUsualGranularity;
  if (facts.has_virtual_memory) {
    std::size_t granularity = 0;
    const CUmemAllocationProp properties = properties_of_piece(device);
    driver.require(driver.cuMemGetAllocationGranularity, &granularity, &properties,
                   CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    facts.granularity = granularity;
  }
  return facts;
}

class CudaMemory final : public RealMemory {
 public:
  CudaMemory(int ordinal, const std::string& library)
      : driver_("cuda:" + std::to_string(ordinal), library),
        device_(open_device(driver_, ordinal)),
        context_(driver_, device_),
        facts_(facts_of(driver_, device_)),
        execution_(driver_) {}

  const RealMemoryFacts& facts() const override { return facts_; }

  Bytes free_bytes() override {
    std::size_t free = 0;
    std::size_t total = 0;
    driver_.require(driver_.cuMemGetInfo, &free, &total);
    return free;
  }

  std::optional<Address> allocate(Bytes size) override {
    CUdeviceptr region = 0;
    if (!driver_.fits(driver_.cuMemAlloc, &region, size)) return std::nullopt;
    return region;
  }
  void free(Address region) override { driver_.require(driver_.cuMemFree, region); }

  std::optional<Address> reserve(Bytes size) override {
    CUdeviceptr at = 0;
    const std::size_t any_alignment = 0;
    const CUdeviceptr anywhere = 0;
    if (!driver_.fits(driver_.cuMemAddressReserve, &at, size, any_alignment, anywhere, 0ull)) {
      return std::nullopt;
    }
    return at;
  }
  void release(Address at, Bytes size) override {
    driver_.require(driver_.cuMemAddressFree, at, size);
  }

  std::optional<Piece> create(Bytes size) override {
    CUmemGenericAllocationHandle piece = 0;
    const CUmemAllocationProp properties = properties_of_piece(device_);
    if (!driver_.fits(driver_.cuMemCreate, &piece, size, &properties, 0ull)) return std::nullopt;
    return piece;
  }
  void destroy(Piece piece) override { driver_.require(driver_.cuMemRelease, piece); }

  bool map(Address at, Bytes size, Piece piece) override {
    return driver_.fits(driver_.cuMemMap, at, size, std::size_t{0}, piece, 0ull);
  }
  bool set_access(Address at, Bytes size) override {
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return driver_.fits(driver_.cuMemSetAccess, at, size, &access, std::size_t{1});
  }
  void unmap(Address at, Bytes size) override { driver_.require(driver_.cuMemUnmap, at, size); }

  bool has_allocator(DriverAllocatorOptions::Kind kind) const override {
    return has_driver_blocks(driver_, device_, kind);
  }
  std::unique_ptr<DriverBlocks> open_allocator(const DriverAllocatorOptions& options) override {
    return open_driver_blocks(driver_, device_, execution_, options);
  }

  Execution& execution() override { return execution_; }

  void begin_measuring() override {
    free_at_start_ = free_bytes();
    measured_ = {};
  }
  void sample() override {
    const Bytes free = free_bytes();
    measured_.used = free_at_start_ - std::min(free, free_at_start_);
    measured_.peak_used = std::max(measured_.peak_used, measured_.used);
  }
  MeasuredMemory measured() override {
    sample();
    return measured_;
  }

 private:
  DriverApi driver_;
  CUdevice device_;
  PrimaryContext context_;
  RealMemoryFacts facts_;
  CudaExecution execution_;
  Bytes free_at_start_ = 0;
  MeasuredMemory measured_;
};

}  // namespace

bool has_cuda() { return true; }

std::unique_ptr<RealMemory> open_cuda_memory(int ordinal, const std::string& driver) {
  return std::make_unique<CudaMemory>(ordinal, driver);
}

}  // namespace memreplay
