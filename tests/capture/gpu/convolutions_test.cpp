#include "gpu/convolutions.hpp"

#include <gtest/gtest.h>

namespace memreplay::gpu {
namespace {

using Pass = Convolution::Pass;

struct Shape {
  std::uint64_t batch, in, out, taps, stride, padding, side, side_out;
};

Convolution convolution(Pass pass, std::uint64_t element, const Shape& of) {
  return {.pass = pass,
          .element = element,
          .input = {of.batch, of.in, of.side, of.side},
          .filter = {of.out, of.in, of.taps, of.taps},
          .output = {of.batch, of.out, of.side_out, of.side_out},
          .strides = {of.stride, of.stride},
          .padding = {of.padding, of.padding}};
}

/// What cuDNN 9.19 asked for on an H100; some hundred bytes of it are not of the model.
void expect_measured(const Convolution& asked, std::uint64_t measured) {
  EXPECT_LE(workspace_of(asked), measured);
  EXPECT_GE(workspace_of(asked) + 1024, measured);
}

constexpr Shape kOfImages{32, 3, 64, 7, 2, 3, 224, 112};
constexpr Shape kOfAQuarter{32, 64, 64, 3, 1, 1, 56, 56};
constexpr Shape kHalving{32, 128, 256, 3, 2, 1, 28, 14};
constexpr Shape kProduct{32, 256, 256, 1, 1, 0, 14, 14};

TEST(Convolutions, AreOfCopiesWithTheirChannelsLast) {
  expect_measured(convolution(Pass::forward, 4, kOfImages), 122065680);
  expect_measured(convolution(Pass::forward, 4, kHalving), 20447248);
  expect_measured(convolution(Pass::data, 4, kOfAQuarter), 51527696);
  expect_measured(convolution(Pass::data, 4, kHalving), 20447379);
  expect_measured(convolution(Pass::forward, 2, kOfAQuarter), 25763987);
  expect_measured(convolution(Pass::data, 2, kHalving), 10223763);
}

TEST(Convolutions, OfShortTypesPadTheirChannels) {
  expect_measured(convolution(Pass::forward, 2, kOfImages), 77120528);
  auto asked = convolution(Pass::forward, 2, {32, 64, 3, 3, 1, 1, 56, 56});
  EXPECT_EQ(workspace_of(asked), 12845056u + 32 * 8 * 56 * 56 * 2 + 8 * 64 * 9 * 2 + 16);
}

TEST(Convolutions, SumAFiltersGradientInParts) {
  expect_measured(convolution(Pass::filter, 4, kOfAQuarter), 53592743);
  expect_measured(convolution(Pass::filter, 4, {32, 128, 128, 3, 1, 1, 56, 56}),
                  2 * 51380224 + 589824 + 8257536 + 663);
  expect_measured(convolution(Pass::filter, 4, kProduct), 8388608);
}

TEST(Convolutions, NeedNothingWhereTheTensorsAreReadAsTheyLie) {
  EXPECT_EQ(workspace_of(convolution(Pass::forward, 4, kProduct)), 0u);
  EXPECT_EQ(workspace_of(convolution(Pass::forward, 4, {1, 8, 8, 3, 1, 1, 14, 14})), 0u);
  auto in_groups = convolution(Pass::forward, 4, kOfAQuarter);
  in_groups.filter[1] = 1;
  EXPECT_EQ(workspace_of(in_groups), 0u);
  auto last = convolution(Pass::forward, 4, kOfAQuarter);
  last.channels_last = true;
  EXPECT_EQ(workspace_of(last), 0u);
}

}  // namespace
}  // namespace memreplay::gpu
