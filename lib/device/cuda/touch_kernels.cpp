#include "device/cuda/touch_kernels.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "device/cuda/touch_ptx.hpp"
#include "device/real/touch_parts.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kMismatchesKept = 1000;
constexpr std::uint64_t kNoDifference = ~std::uint64_t{0};

constexpr unsigned kThreads = 256;  ///< threads in a block
constexpr unsigned kMostBlocks = 2048;

TouchedRange touched(RealRange range, Touch touch) {
  return {range.address, range.address + range.size, touch == Touch::all};
}

bool is_too_new(CUresult refusal) {
  return refusal == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || refusal == CUDA_ERROR_INVALID_PTX ||
         refusal == CUDA_ERROR_NO_BINARY_FOR_GPU;
}

}  // namespace

TouchKernels::~TouchKernels() {
  if (places_ != 0) driver_.discard(driver_.cuMemFree, places_);
  if (module_ != nullptr) driver_.discard(driver_.cuModuleUnload, module_);
}

// After a failure the next call goes on where it stopped.
void TouchKernels::load() {
  if (module_ == nullptr) {
    const CUresult result = driver_.cuModuleLoadData.function(&module_, kTouchPtx);
    if (result != CUDA_SUCCESS) {
      module_ = nullptr;
      driver_.fail(driver_.cuModuleLoadData.name, result,
                   is_too_new(result) ? ": the driver or the GPU is older than the CUDA toolkit of "
                                        "this build; --touch=none does without"
                                      : "");
    }
  }
  if (fill_ == nullptr) {
    driver_.require(driver_.cuModuleGetFunction, &fill_, module_, "memreplay_fill");
  }
  if (check_ == nullptr) {
    driver_.require(driver_.cuModuleGetFunction, &check_, module_, "memreplay_check");
  }
  if (places_ == 0) {
    driver_.require(driver_.cuMemAlloc, &places_, kPlaces * sizeof(std::uint64_t));
  }
  if (stale_ == 0) return;
  const unsigned char ones = 0xff;
  driver_.require(driver_.cuMemsetD8, places_, ones, stale_ * sizeof(std::uint64_t));
  driver_.require(driver_.cuCtxSynchronize);  // no other stream waits for the default one
  stale_ = 0;
}

void TouchKernels::launch(CUfunction kernel, CUstream stream, std::uint64_t parts,
                          void** arguments) {
  const std::uint64_t blocks =
      std::min<std::uint64_t>((parts + kThreads - 1) / kThreads, kMostBlocks);
  driver_.require(driver_.cuLaunchKernel, kernel, static_cast<unsigned>(blocks), 1u, 1u, kThreads,
                  1u, 1u, 0u, stream, arguments, nullptr);
}

void TouchKernels::fill(CUstream stream, RealRange range, std::uint64_t tag, Touch touch) {
  if (range.size == 0) return;
  load();
  TouchedRange of = touched(range, touch);
  void* arguments[] = {&of, &tag};
  launch(fill_, stream, touch_part_count(of), arguments);
}

void TouchKernels::check(CUstream stream, RealRange range, std::uint64_t tag, Touch touch) {
  if (range.size == 0) return;
  const bool same_block = !tags_.empty() && tags_.back() == tag;
  if (!same_block && tags_.size() == kPlaces) read_places();
  load();
  if (!same_block) tags_.push_back(tag);
  TouchedRange of = touched(range, touch);
  CUdeviceptr place = places_ + (tags_.size() - 1) * sizeof(std::uint64_t);
  void* arguments[] = {&of, &tag, &place};
  launch(check_, stream, touch_part_count(of), arguments);
}

void TouchKernels::read_places() {
  if (tags_.empty()) return;
  std::vector<std::uint64_t> lowest(tags_.size());
  driver_.require(driver_.cuCtxSynchronize);
  driver_.require(driver_.cuMemcpyDtoH, lowest.data(), places_,
                  lowest.size() * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < lowest.size(); ++i) {
    if (lowest[i] == kNoDifference) continue;
    stale_ = lowest.size();
    if (found_.size() < kMismatchesKept) found_.push_back({tags_[i], lowest[i]});
  }
  tags_.clear();
}

std::vector<TouchMismatch> TouchKernels::mismatches() {
  if (tags_.empty()) driver_.require(driver_.cuCtxSynchronize);
  read_places();
  return std::exchange(found_, {});
}

}  // namespace memreplay
