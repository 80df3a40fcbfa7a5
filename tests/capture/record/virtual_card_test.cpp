#include "record/virtual_card.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace memreplay {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    virtual_card(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(VirtualCard, OfANameAloneHasTheContextOfARealOne) {
  const VirtualCard card = virtual_card("a100-40g");
  EXPECT_EQ(card.card.name, "A100-40GB");
  EXPECT_EQ(card.total, card.card.total);
  EXPECT_EQ(card.context, kContext);
  EXPECT_TRUE(card.libraries);
  EXPECT_FALSE(virtual_card("a100-40g:context=0").libraries);
  EXPECT_EQ(card.count, 0);
  EXPECT_EQ(card.lag, 0);
}

TEST(VirtualCard, IsNamedWithOrWithoutTheLetterOfTheUnit) {
  EXPECT_EQ(virtual_card("a100-40g").card.name, virtual_card("A100-40GB").card.name);
  EXPECT_EQ(virtual_card("h100-80g").card.name, virtual_card("NVIDIA H100 80GB HBM3").card.name);
}

TEST(VirtualCard, OfAGivenMemoryIsAllTheProgramsOwn) {
  const VirtualCard card = virtual_card("t4:memory=24GiB");
  EXPECT_EQ(card.total, 24 * kGiB);
  EXPECT_EQ(card.context, 0);
  EXPECT_FALSE(card.libraries);
}

TEST(VirtualCard, KeepsAContextThatIsGivenBesideTheMemory) {
  EXPECT_EQ(virtual_card("t4:memory=24GiB,context=1GiB").context, kGiB);
  EXPECT_EQ(virtual_card("t4:context=1GiB,memory=24GiB").context, kGiB);
  EXPECT_EQ(virtual_card("t4:context=0").context, 0);
}

TEST(VirtualCard, HasEveryKey) {
  const VirtualCard card = virtual_card("t4:sm=12.1,count=16,lag=9,memory=3TiB");
  EXPECT_EQ(card.card.compute, 121);
  EXPECT_EQ(card.count, 16);
  EXPECT_EQ(card.lag, 9);
  EXPECT_EQ(card.total, 3 * kTiB);
  EXPECT_EQ(virtual_card("t4:sm=9").card.compute, 90);
}

TEST(VirtualCard, MayHaveOtherMultiprocessorsThanUsual) {
  const VirtualCard card = virtual_card("RTX-2080-Ti:multiprocessors=72");
  EXPECT_NE(settings_of(card, {}).find(";multiprocessors=72;"), std::string::npos);
  EXPECT_TRUE(card.libraries);
}

TEST(VirtualCard, MayTimeTheEngineOfLeastWorkspaceAsTheFastest) {
  EXPECT_NE(settings_of(virtual_card("t4:benchmark=least"), {}).find(";benchmark=least"),
            std::string::npos);
  EXPECT_EQ(settings_of(virtual_card("t4:benchmark=first"), {}),
            settings_of(virtual_card("t4"), {}));
  EXPECT_EQ(refusal_of("t4:benchmark=fastest"),
            "--virtual-gpu has benchmark=fastest; expected first or least");
}

TEST(VirtualCard, UnderWindowsHasWhatItsDriverReportsThere) {
  EXPECT_EQ(virtual_card("rtx-4090:os=windows").total, 24563 * kMiB);
  EXPECT_EQ(virtual_card("rtx-4090:os=linux").total, virtual_card("rtx-4090").total);
  EXPECT_EQ(refusal_of("t4:os=windows"),
            "--virtual-gpu has os=windows; expected linux: what T4 has under Windows is not known; "
            "memory=SIZE says it");
  EXPECT_EQ(refusal_of("t4:os=dos"), "--virtual-gpu has os=dos; expected linux or windows");
}

TEST(VirtualCard, SaysWhatAValueIsToBe) {
  EXPECT_EQ(refusal_of("t4:memory=lots"),
            "--virtual-gpu has memory=lots; expected a size up to 3TiB, such as 24GiB");
  EXPECT_EQ(refusal_of("t4:memory=3073GiB"),
            "--virtual-gpu has memory=3073GiB; expected a size up to 3TiB, such as 24GiB");
  EXPECT_EQ(refusal_of("t4:context=-1"),
            "--virtual-gpu has context=-1; expected a size up to 3TiB, such as 24GiB");
  for (const char* sm : {"4.9", "8.10", "8.", "x", "100", ""}) {
    EXPECT_EQ(
        refusal_of("t4:sm=" + std::string(sm)),
        "--virtual-gpu has sm=" + std::string(sm) + "; expected a compute capability such as 8.6");
  }
  for (const char* count : {"0", "17", "two"}) {
    EXPECT_EQ(
        refusal_of("t4:count=" + std::string(count)),
        "--virtual-gpu has count=" + std::string(count) + "; expected a whole number from 1 to 16");
  }
  EXPECT_EQ(refusal_of("t4:lag=-1"),
            "--virtual-gpu has lag=-1; expected a whole number from 0 to 1000000000");
}

TEST(VirtualCard, SuggestsWhatWasMeant) {
  EXPECT_EQ(refusal_of("t4:memroy=1G"),
            "--virtual-gpu has no key 'memroy'; did you mean 'memory'? (keys: memory, context, sm, "
            "multiprocessors, os, count, lag, benchmark)");
  EXPECT_EQ(refusal_of("t4:24GiB"), "--virtual-gpu has '24GiB'; expected KEY=VALUE");
  EXPECT_TRUE(refusal_of("a1000").starts_with("unknown card 'a1000'"));
  EXPECT_TRUE(refusal_of("").starts_with("unknown card ''"));
}

TEST(VirtualCard, LeavesMemoryToTheProgram) {
  EXPECT_EQ(refusal_of("t4:memory=1GiB,context=1GiB"),
            "--virtual-gpu leaves no memory beside the context; expected less context");
  EXPECT_EQ(refusal_of("t4:memory=0"),
            "--virtual-gpu has memory=0; expected a size up to 3TiB, such as 24GiB");
}

}  // namespace
}  // namespace memreplay
