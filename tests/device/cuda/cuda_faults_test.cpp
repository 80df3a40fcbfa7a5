#include <cuda.h>

#include <functional>
#include <vector>

#include "cuda_fixture.hpp"

namespace memreplay {
namespace {

using Undo = std::vector<std::function<void()>>;

/// Everything that can be asked of a GPU, once. Ends early where it is full.
void use(RealMemory& memory, std::unique_ptr<DriverBlocks>& direct,
         std::unique_ptr<DriverBlocks>& pool, Undo& undo) {
  const Bytes granule = memory.facts().granularity;
  Execution& gpu = memory.execution();
  memory.begin_measuring();

  const auto region = memory.allocate(granule);
  if (!region) return;
  undo.push_back([&memory, region] { memory.free(*region); });
  const auto range = memory.reserve(2 * granule);
  if (!range) return;
  undo.push_back([&memory, range, granule] { memory.release(*range, 2 * granule); });
  const auto piece = memory.create(granule);
  if (!piece) return;
  undo.push_back([&memory, piece] { memory.destroy(*piece); });
  for (const Address at : {*range, *range + granule}) {
    if (!memory.map(at, granule, *piece)) return;
    undo.push_back([&memory, at, granule] { memory.unmap(at, granule); });
    undo.push_back([&gpu] { gpu.synchronise(); });
  }
  if (!memory.set_access(*range, 2 * granule)) return;

  gpu.fill(0, {*region, granule}, 1, Touch::edges);
  const Execution::Point filled = gpu.record(0);
  undo.push_back([&gpu, filled] { gpu.forget(filled); });
  gpu.wait(1, filled);
  gpu.start_clock(1);
  gpu.check(1, {*region, granule}, 1, Touch::edges);
  gpu.stop_clock(CallKind::check);
  gpu.check(1, {*range, granule}, 2, Touch::edges);
  (void)gpu.reached(filled);
  gpu.wait(filled);
  (void)gpu.mismatches();
  gpu.check(0, {*region, granule}, 1, Touch::edges);
  TimesByKind times;
  gpu.collect(times);
  gpu.synchronise();

  DriverAllocatorOptions options;
  direct = memory.open_allocator(options);
  options.kind = DriverAllocatorOptions::Kind::stream_ordered;
  pool = memory.open_allocator(options);
  for (DriverBlocks* blocks : {direct.get(), pool.get()}) {
    const auto block = blocks->allocate(1000, 8 * kMiB, 2);
    if (!block || !blocks->allocate(1000, 0, 2)) return;
    blocks->free(block->address, 2);
    blocks->trim();
    (void)blocks->held();
    (void)blocks->peak_held();
  }
  memory.sample();
  (void)memory.measured();
}

struct Outcome {
  std::vector<std::string> errors;
  bool failed_in_use = false;  ///< not only while everything was given back at the end
};

Outcome use_everything() {
  Outcome outcome;
  const auto attempt = [&](const std::function<void()>& action) {
    const std::string error = message_of<DeviceError>(action);
    if (!error.empty()) outcome.errors.push_back(error);
    return error.empty();
  };
  std::unique_ptr<RealMemory> memory;
  std::unique_ptr<DriverBlocks> direct;
  std::unique_ptr<DriverBlocks> pool;
  Undo undo;
  if (attempt([&] { memory = open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER); })) {
    attempt([&] { use(*memory, direct, pool, undo); });
  }
  for (; !undo.empty(); undo.pop_back()) {
    if (!attempt(undo.back())) attempt(undo.back());
  }
  outcome.failed_in_use = *stand_in().failed_call() != '\0';
  return outcome;
}

class CudaFaults : public testing::TestWithParam<CUresult> {};
INSTANTIATE_TEST_SUITE_P(AnyCall, CudaFaults,
                         testing::Values(CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN),
                         [](const auto& error) {
                           return std::string(error.param == CUDA_ERROR_UNKNOWN ? "unknown"
                                                                                : "full");
                         });

TEST_P(CudaFaults, WhicheverCallFailsNothingLeaksAndTheErrorNamesIt) {
  int failed = 0;
  for (std::uint64_t n = 1;; ++n) {
    stand_in().reset();
    stand_in().fail_call(nullptr, n, GetParam());
    const Outcome outcome = use_everything();
    const std::string call = stand_in().failed_call();
    EXPECT_EQ(stand_in().leaks(), 0u) << n << " " << call << "\n" << stand_in().leaks_text();
    EXPECT_EQ(stand_in().misuse(), 0u) << n << " " << call << "\n" << stand_in().misuse_text();
    if (call.empty()) break;
    ++failed;
    EXPECT_LE(outcome.errors.size(), 1u) << n << " " << call;
    for (const std::string& error : outcome.errors) {
      EXPECT_EQ(error.rfind("cuda:0: " + call + ": ", 0), 0u) << n << " " << error;
    }
    if (GetParam() == CUDA_ERROR_UNKNOWN && outcome.failed_in_use) {
      EXPECT_EQ(outcome.errors.size(), 1u) << n << " " << call;
    }
  }
  EXPECT_GT(failed, 90);
  stand_in().reset();
}

TEST(CudaCalls, WithoutAFaultEveryCallIsMade) {
  stand_in().reset();
  EXPECT_TRUE(use_everything().errors.empty());
  for (const char* call : {
#define MEMREPLAY_DRIVER_CALL(call, symbol) #call,
#include "device/cuda/driver_calls.def"
#undef MEMREPLAY_DRIVER_CALL
       }) {
    if (std::string(call).rfind("cuGetError", 0) == 0) continue;
    EXPECT_GT(stand_in().calls(call), 0u) << call;
  }
  stand_in().reset();
}

}  // namespace
}  // namespace memreplay
