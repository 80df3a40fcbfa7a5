#include <gtest/gtest.h>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "support/driver_device.hpp"

namespace memreplay {
namespace {

using Kind = DriverAllocatorOptions::Kind;

std::string library_opened(std::string_view spec) {
  DriverDevice device({Kind::malloc});
  make_strategy(parse_strategy(spec), {.device = device});
  EXPECT_EQ(device.opened.size(), 1u);
  EXPECT_EQ(device.opened.at(0).kind, Kind::malloc);
  return device.opened.at(0).library;
}

TEST(Malloc, ItIsThatOfTheProcessUnlessALibraryIsNamed) {
  EXPECT_EQ(library_opened("malloc"), "");
  EXPECT_EQ(library_opened("malloc:lib=process"), "");
  EXPECT_EQ(library_opened("malloc:lib=libjemalloc.so.2"), "libjemalloc.so.2");
  EXPECT_EQ(library_opened("malloc:lib=/opt/my/lib.so"), "/opt/my/lib.so");
}

TEST(Malloc, AGpuHasNone) {
  DriverDevice device({Kind::direct, Kind::stream_ordered});
  try {
    make_strategy(parse_strategy("malloc"), {.device = device});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "strategy 'malloc' needs the host: --device host");
  }
}

}  // namespace
}  // namespace memreplay
