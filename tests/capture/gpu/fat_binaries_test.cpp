#include "gpu/fat_binaries.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace memreplay::gpu {
namespace {

enum Kind : std::uint16_t { ptx = 1, machine_code = 2 };

/// What nvcc hands over of a program that was built for several architectures.
class Built {
 public:
  explicit Built(const std::vector<std::pair<Kind, int>>& entries) {
    put<std::uint32_t>(0xba55ed50);
    put<std::uint16_t>(1);
    put<std::uint16_t>(16);
    put<std::uint64_t>(entries.size() * (64 + 8));
    for (const auto& [kind, architecture] : entries) {
      const std::size_t begin = bytes_.size();
      put<std::uint16_t>(kind);
      put<std::uint16_t>(0);
      put<std::uint32_t>(64);
      put<std::uint64_t>(8);
      bytes_.resize(begin + 28);
      put<std::uint32_t>(static_cast<std::uint32_t>(architecture));
      bytes_.resize(begin + 64 + 8);
    }
  }
  void cut(std::size_t size) {
    bytes_.resize(size);
    const std::uint64_t left = size - 16;
    std::memcpy(bytes_.data() + 8, &left, sizeof left);
  }
  BinaryCode code(int card) const {
    const Wrapper wrapper{0x466243b1, 1, bytes_.data(), nullptr};
    return code_for(&wrapper, card);
  }

 private:
  struct Wrapper {
    std::uint32_t magic, version;
    const void *binary, *more;
  };

  template <class T>
  void put(T value) {
    const auto* from = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }

  std::vector<char> bytes_;
};

TEST(GpuFatBinaries, MachineCodeOfTheCardsMajorVersionRuns) {
  const Built built({{machine_code, 75},
                     {machine_code, 80},
                     {machine_code, 86},
                     {machine_code, 90},
                     {machine_code, 120}});
  EXPECT_EQ(built.code(89).architecture, 86);
  EXPECT_EQ(built.code(80).architecture, 80);
  EXPECT_EQ(built.code(90).architecture, 90);
  EXPECT_EQ(built.code(121).architecture, 120);
  EXPECT_TRUE(built.code(89).runs);
}

TEST(GpuFatBinaries, WhereNoneRunsItIsTheOldest) {
  const BinaryCode code = Built({{machine_code, 80}, {machine_code, 75}}).code(70);
  EXPECT_EQ(code.architecture, 75);
  EXPECT_FALSE(code.runs);
}

TEST(GpuFatBinaries, PtxOfAnOlderArchitectureIsCompiledForTheCard) {
  EXPECT_EQ(Built({{machine_code, 80}, {ptx, 90}}).code(120).architecture, 90);
  EXPECT_EQ(Built({{machine_code, 80}, {ptx, 90}}).code(89).architecture, 80);
}

TEST(GpuFatBinaries, OfAnotherFormNothingIsKnown) {
  const std::uint64_t other[4] = {};
  EXPECT_EQ(code_for(other, 80).architecture, 0);
  EXPECT_TRUE(code_for(other, 80).runs);
  Built cut({{machine_code, 80}, {machine_code, 86}});
  cut.cut(16 + 72 + 40);
  EXPECT_EQ(cut.code(89).architecture, 80);
}

}  // namespace
}  // namespace memreplay::gpu
