#include <gtest/gtest.h>

#include "analysis/recorded/live_blocks.hpp"
#include "analysis/recordings.hpp"

namespace memreplay {
namespace {

TEST(CallTree, SumsOfCalledPlacesStandBelowTheirCallersTheLargestFirst) {
  RecordingWriter writer;
  const auto small =
      writer.stack({"/p/a.py:1 f", "/v/site-packages/torch/x.py:9 call", "/p/t.py:7 main"});
  const auto large = writer.stack({"/p/b.py:2 g", "/p/t.py:7 main"});
  const auto other = writer.stack({"/p/b.py:2 g", "/p/e.py:5 test"});
  const Recording recording =
      writer.alloc(0, 10, small).alloc(1, 30, large).alloc(2, 20, other).alloc(3, 5).recording();
  const auto tree = call_tree(live_before(recording.traces[0], 4), Places(recording));
  ASSERT_EQ(tree.size(), 3u);
  EXPECT_EQ(tree[0].sum.place, "t.py:7 main");
  EXPECT_EQ(tree[0].sum.bytes, 40u);
  EXPECT_EQ(tree[0].sum.blocks, 2u);
  ASSERT_EQ(tree[0].calls.size(), 2u) << "the frame of PyTorch is folded";
  EXPECT_EQ(tree[0].calls[0].sum.place, "b.py:2 g");
  EXPECT_EQ(tree[0].calls[1].sum.place, "a.py:1 f");
  EXPECT_EQ(tree[1].sum.place, "e.py:5 test");
  EXPECT_EQ(tree[2].sum.place, "(no stack recorded)");
  EXPECT_TRUE(tree[2].calls.empty());
}

TEST(CallTree, ByFileSeveralFramesOfOneFileAreOneCaller) {
  RecordingWriter writer;
  const auto stack = writer.stack({"/p/a.py:1 f", "/p/a.py:8 g", "/p/t.py:7 main"});
  const Recording recording = writer.alloc(0, 10, stack).recording();
  const auto tree =
      call_tree(live_before(recording.traces[0], 1), Places(recording, PlaceBy::file));
  ASSERT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree[0].sum.place, "t.py");
  ASSERT_EQ(tree[0].calls.size(), 1u);
  EXPECT_EQ(tree[0].calls[0].sum.place, "a.py");
  EXPECT_TRUE(tree[0].calls[0].calls.empty());
}

}  // namespace
}  // namespace memreplay
