#include "device/cuda/cuda_memory.hpp"

#include <cuda.h>

#include "cuda_fixture.hpp"

namespace memreplay {
namespace {

class CudaMemory : public DriverTest {
 protected:
  Bytes granule() const { return memory->facts().granularity; }

  Address mapped(Address at, RealMemory::Piece piece) {
    memory->map(at, granule(), piece);
    memory->set_access(at, granule());
    return at;
  }

  std::size_t differences(RealRange range, std::uint64_t tag) {
    memory->execution().check(0, range, tag, Touch::all);
    return memory->execution().mismatches().size();
  }
};
MEMREPLAY_ON_BOTH_DRIVERS(CudaMemory);

TEST_P(CudaMemory, TheFactsNameTheCardAndItsMemory) {
  const RealMemoryFacts& facts = memory->facts();
  EXPECT_EQ(facts.kind, "cuda");
  EXPECT_NE(facts.name, "");
  EXPECT_GT(facts.total, 0u);
  EXPECT_GE(facts.granularity, 4 * kKiB);
  EXPECT_LE(memory->free_bytes(), facts.total);
}

TEST_P(CudaMemory, ARegionHoldsWhatIsWrittenAndGoesBack) {
  const Address region = memory->allocate(3 * kMiB).value();
  memory->execution().fill(0, {region, 3 * kMiB}, 7, Touch::all);
  EXPECT_EQ(differences({region, 3 * kMiB}, 7), 0u);
  memory->free(region);
}

TEST_P(CudaMemory, MoreThanThereIsIsNotServed) {
  EXPECT_EQ(memory->allocate(2 * memory->facts().total), std::nullopt);
  EXPECT_EQ(memory->create(2 * round_up(memory->facts().total, granule())), std::nullopt);
  const auto region = memory->allocate(1);
  ASSERT_TRUE(region.has_value());
  memory->free(*region);
}

TEST_P(CudaMemory, PiecesMappedSideBySideAreOneRange) {
  const Bytes size = 2 * granule();
  const Address at = memory->reserve(size).value();
  const RealMemory::Piece first = memory->create(granule()).value();
  const RealMemory::Piece second = memory->create(granule()).value();
  memory->map(at, granule(), first);
  memory->map(at + granule(), granule(), second);
  memory->set_access(at, size);

  memory->execution().fill(0, {at, size}, 5, Touch::all);
  EXPECT_EQ(differences({at, size}, 5), 0u);

  memory->unmap(at, granule());
  memory->unmap(at + granule(), granule());
  memory->destroy(first);
  memory->destroy(second);
  memory->release(at, size);
}

TEST_P(CudaMemory, OnePieceMappedTwiceIsOneMemory) {
  const Address at = memory->reserve(2 * granule()).value();
  const RealMemory::Piece piece = memory->create(granule()).value();
  const Address one = mapped(at, piece);
  const Address other = mapped(at + granule(), piece);

  memory->execution().fill(0, {one, granule()}, 1, Touch::all);
  EXPECT_EQ(differences({one, granule()}, 1), 0u);
  memory->execution().fill(0, {other, granule()}, 2, Touch::all);
  EXPECT_EQ(differences({one, granule()}, 1), 1u);

  memory->unmap(one, granule());
  memory->unmap(other, granule());
  memory->destroy(piece);
  memory->release(at, 2 * granule());
}

TEST_P(CudaMemory, MemoryMovesFromOneAddressToAnother) {
  const Address at = memory->reserve(2 * granule()).value();
  const RealMemory::Piece piece = memory->create(granule()).value();
  for (const Address place : {at, at + granule(), at}) {
    mapped(place, piece);
    memory->execution().fill(0, {place, granule()}, 3, Touch::all);
    EXPECT_EQ(differences({place, granule()}, 3), 0u);
    memory->unmap(place, granule());
  }
  memory->destroy(piece);
  memory->release(at, 2 * granule());
}

TEST_P(CudaMemory, TheMeasuredPeakIsThatOfTheSamples) {
  memory->begin_measuring();
  const Address region = memory->allocate(64 * kMiB).value();
  memory->sample();
  memory->free(region);
  const MeasuredMemory measured = memory->measured();
  EXPECT_GE(measured.peak_used, 64 * kMiB);
  EXPECT_LT(measured.used, measured.peak_used);
  EXPECT_EQ(measured.minor_faults, std::nullopt);
}

using CudaMemoryOnStandIn = StandInTest;

TEST_F(CudaMemoryOnStandIn, MemoryGivenBackSinceTheStartIsNoUseBelowNothing) {
  const Address region = open().allocate(8 * kMiB).value();
  memory->begin_measuring();
  memory->free(region);
  EXPECT_EQ(memory->measured().used, 0u);
}

TEST_F(CudaMemoryOnStandIn, ATimeLimitOfKernelsMeansADisplay) {
  EXPECT_FALSE(open().facts().has_display);
  stand_in().set_attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 1);
  EXPECT_TRUE(open().facts().has_display);
}

TEST_F(CudaMemoryOnStandIn, WithoutVirtualMemoryTheGranularityIsTheUsualOne) {
  stand_in().set_attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0);
  EXPECT_FALSE(open().facts().has_virtual_memory);
  EXPECT_EQ(memory->facts().granularity, 2 * kMiB);
}

TEST_F(CudaMemoryOnStandIn, ItIsServedUpToTheLastGranule) {
  stand_in().set_capacity(6 * kMiB);
  const Address region = open().allocate(2 * kMiB).value();
  const RealMemory::Piece piece = memory->create(4 * kMiB).value();
  EXPECT_EQ(memory->free_bytes(), 0u);
  EXPECT_EQ(memory->allocate(1), std::nullopt);
  EXPECT_EQ(memory->create(2 * kMiB), std::nullopt);
  memory->destroy(piece);
  memory->free(region);
  EXPECT_EQ(memory->free_bytes(), 6 * kMiB);
}

TEST_F(CudaMemoryOnStandIn, AFailureNamesDeviceAndCall) {
  const Address region = open().allocate(1).value();
  stand_in().fail_call("cuMemFree", 1, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(message_of<DeviceError>([&] { memory->free(region); }),
            "cuda:0: cuMemFree: CUDA_ERROR_INVALID_VALUE (invalid argument)");
  memory->free(region);
}

TEST_F(CudaMemoryOnStandIn, AnErrorWithoutANameIsANumber) {
  open();
  stand_in().fail_call("cuMemAlloc", 1, 998);
  EXPECT_EQ(message_of<DeviceError>([&] { (void)memory->allocate(1); }),
            "cuda:0: cuMemAlloc: error 998");
}

TEST_F(CudaMemoryOnStandIn, TwoOfOneGpuDoNotDisturbEachOther) {
  open();
  auto other = open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER);
  other->free(other->allocate(1).value());
  other.reset();
  memory->free(memory->allocate(1).value());
}

std::string refusal(int ordinal, const std::string& driver = MEMREPLAY_STAND_IN_DRIVER) {
  return message_of<DeviceError>([&] { open_cuda_memory(ordinal, driver); });
}

TEST_F(CudaMemoryOnStandIn, WithoutADriverItSaysSo) {
  EXPECT_EQ(refusal(0, "/nowhere/libcuda.so.1"),
            "cuda:0: no CUDA driver on this machine (/nowhere/libcuda.so.1: cannot open shared "
            "object file: No such file or directory)");
}

TEST_F(CudaMemoryOnStandIn, ALibraryWithoutTheCallsIsNoDriver) {
  EXPECT_EQ(refusal(0, "libc.so.6"), "cuda:0: the CUDA driver has no cuInit: it is too old");
}

TEST_F(CudaMemoryOnStandIn, AnOrdinalOutOfRangeIsToldHowManyThereAre) {
  EXPECT_EQ(refusal(1), "cuda:1: there is one GPU, cuda:0");
  EXPECT_EQ(refusal(-1), "cuda:-1: there is one GPU, cuda:0");
  stand_in().set_devices(3);
  EXPECT_EQ(refusal(3), "cuda:3: there are 3 GPUs, cuda:0 to cuda:2");
  stand_in().set_devices(0);
  EXPECT_EQ(refusal(0), "cuda:0: there is no GPU");
}

}  // namespace
}  // namespace memreplay
