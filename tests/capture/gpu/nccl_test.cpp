#include <gtest/gtest.h>

#include <vector>

#include "capture/gpu/gpu.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

constexpr int kInt64 = 4;

struct Id {
  char bytes[128];
};

/// Rank 1 of three, with a number on its device.
struct Rank {
  explicit Rank(const Gpu& on) : gpu(on) {
    EXPECT_EQ(gpu("ncclCommInitRank", &communicator, 3, Id{}, 1), kSuccess);
    own = static_cast<std::int64_t*>(gpu.allocated(4096));
    const std::int64_t value = 42;
    gpu.copy(own, &value, sizeof value);
  }

  std::int64_t at(std::size_t place) const {
    std::int64_t value = -1;
    gpu.copy(&value, own + place, sizeof value);
    return value;
  }

  Status broadcast(const std::int64_t* send, std::int64_t* receive, int root) const {
    return gpu("ncclBroadcast", static_cast<const void*>(send), static_cast<void*>(receive),
               std::size_t{1}, kInt64, root, communicator, static_cast<Stream>(nullptr));
  }

  const Gpu& gpu;
  Handle communicator = nullptr;
  std::int64_t* own = nullptr;
};

TEST(NeutralNccl, KnowsWhoItIs) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Rank rank(gpu);
    int number = 0;
    gpu("ncclCommCount", rank.communicator, &number);
    EXPECT_EQ(number, 3);
    gpu("ncclCommUserRank", rank.communicator, &number);
    EXPECT_EQ(number, 1);
    EXPECT_EQ(gpu("ncclCommDestroy", rank.communicator), kSuccess);
  });
}

TEST(NeutralNccl, TakesItsMemoryWithTheFirstCollective) {
  on_a_gpu("total=1073741824;libraries=1", [](const Gpu& gpu) {
    const Rank rank(gpu);
    const std::size_t before = gpu.free_bytes();
    EXPECT_EQ(rank.broadcast(rank.own, rank.own + 1, 1), kSuccess);
    EXPECT_EQ(before - gpu.free_bytes(), 496 * kMiB);
    EXPECT_EQ(rank.broadcast(rank.own, rank.own + 1, 1), kSuccess);
    EXPECT_EQ(before - gpu.free_bytes(), 496 * kMiB);
  });
}

TEST(NeutralNccl, FailsWhereTheCardHasNoRoomForIt) {
  on_a_gpu("total=104857600;libraries=1", [](const Gpu& gpu) {
    const Rank rank(gpu);
    EXPECT_NE(rank.broadcast(rank.own, rank.own + 1, 1), kSuccess);
  });
}

TEST(NeutralNccl, GathersItsOwnValueOfEveryRank) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Rank rank(gpu);
    gpu("ncclAllGather", static_cast<const void*>(rank.own), static_cast<void*>(rank.own + 10),
        std::size_t{1}, kInt64, rank.communicator, static_cast<Stream>(nullptr));
    for (const std::size_t place : {10, 11, 12}) EXPECT_EQ(rank.at(place), 42);
    EXPECT_EQ(rank.at(13), 0);
  });
}

TEST(NeutralNccl, GathersByAGroupOfBroadcasts) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Rank rank(gpu);
    gpu("ncclGroupStart");
    for (int root = 0; root < 3; ++root) {
      std::int64_t* const receive = rank.own + 10 + root;
      EXPECT_EQ(rank.broadcast(root == 1 ? rank.own : receive, receive, root), kSuccess);
    }
    gpu("ncclGroupEnd");
    for (const std::size_t place : {10, 11, 12}) EXPECT_EQ(rank.at(place), 42);
  });
}

TEST(NeutralNccl, EndsAGroupWithItsOutermostEnd) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Rank rank(gpu);
    gpu("ncclGroupStart");
    gpu("ncclGroupStart");
    rank.broadcast(rank.own + 10, rank.own + 10, 0);
    gpu("ncclGroupEnd");
    rank.broadcast(rank.own, rank.own + 11, 1);
    EXPECT_EQ(rank.at(10), 0);
    gpu("ncclGroupEnd");
    EXPECT_EQ(rank.at(10), 42);
  });
}

TEST(NeutralNccl, KeepsItsPartOfAReduceScatter) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Rank rank(gpu);
    gpu.copy(rank.own + 21, rank.own, sizeof(std::int64_t));
    gpu("ncclReduceScatter", static_cast<const void*>(rank.own + 20),
        static_cast<void*>(rank.own + 30), std::size_t{1}, kInt64, 0, rank.communicator,
        static_cast<Stream>(nullptr));
    EXPECT_EQ(rank.at(30), 42);
  });
}

}  // namespace
}  // namespace memreplay::gpu
