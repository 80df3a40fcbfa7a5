#include "gpu/shared_cards.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "capture/gpu/other_process.hpp"

namespace memreplay::gpu {
namespace {

constexpr Bytes kCapacity = 100;

void take(const SharedCards& cards, Bytes size) {
  static SharedCards& mine = *new SharedCards(cards.path().c_str());
  mine.charge(0, size, kCapacity);
}

TEST(SharedCards, AreFullWhenAllProcessesTogetherFillThem) {
  SharedCards cards;
  const OtherProcess other([&] { take(cards, 60); });
  EXPECT_EQ(cards.used(0), 60);
  EXPECT_FALSE(cards.charge(0, 41, kCapacity));
  EXPECT_TRUE(cards.charge(0, 40, kCapacity));
  EXPECT_FALSE(cards.charge(0, 1, kCapacity));
  EXPECT_TRUE(cards.charge(1, kCapacity, kCapacity));
}

TEST(SharedCards, SayWhoHasWhat) {
  SharedCards cards;
  cards.charge(0, 30, kCapacity);
  cards.discharge(0, 10);
  const OtherProcess other([&] { take(cards, 60); });
  const auto uses = cards.uses(0);
  ASSERT_EQ(uses.size(), 2);
  EXPECT_EQ(uses[0].process, ::getpid());
  EXPECT_EQ(uses[0].bytes, 20);
  EXPECT_EQ(uses[1].process, other.id());
  EXPECT_EQ(uses[1].bytes, 60);
  EXPECT_TRUE(cards.uses(1).empty());
}

TEST(SharedCards, GetBackWhatAKilledProcessHad) {
  SharedCards cards;
  const OtherProcess other([&] { take(cards, 60); });
  other.kill();
  EXPECT_TRUE(cards.charge(0, kCapacity, kCapacity));
  EXPECT_EQ(cards.used(0), kCapacity);
}

TEST(SharedCards, GetBackWhatAProcessHadThatBecomesAnotherProgram) {
  SharedCards cards;
  const OtherProcess other([&] { take(cards, 60); },
                           [] { ::execlp("sleep", "sleep", "60", nullptr); });
  other.wait_for_exec();
  EXPECT_EQ(cards.used(0), 0);
}

TEST(SharedCards, StayWithAProcessWhateverItDoesToItsDescriptors) {
  SharedCards cards;
  const OtherProcess opens([&] {
    take(cards, 30);
    ::close(::open(cards.path().c_str(), O_RDONLY));
  });
  const OtherProcess closes([&] {
    take(cards, 30);
    ::close_range(3, 1000, CLOSE_RANGE_UNSHARE);
    ::setsid();
  });
  EXPECT_EQ(cards.used(0), 60);
  EXPECT_FALSE(cards.charge(0, 41, kCapacity));
  closes.kill();
  EXPECT_TRUE(cards.charge(0, 41, kCapacity));
}

TEST(SharedCards, StayWithAProcessWhoseFirstThreadHasEnded) {
  SharedCards cards;
  const OtherProcess other([&] { take(cards, 60); },
                           [] {
                             std::thread([] { ::sleep(60); }).detach();
                             ::syscall(SYS_exit, 0);
                           });
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(cards.used(0), 60);
    ::usleep(1000);
  }
}

TEST(SharedCards, HaveTheSlotOfADeadProcessForTheNextOne) {
  SharedCards cards;
  for (int i = 0; i < 1100; ++i) {
    const OtherProcess other([&] { take(cards, 60); });
    ASSERT_EQ(cards.uses(0).size(), 1) << i;
  }
}

TEST(SharedCards, CountOnWhateverAProcessWasDoingWhenItWasKilled) {
  SharedCards cards;
  for (int i = 0; i < 100; ++i) {
    SharedCards in_others(cards.path().c_str());
    const auto nothing = [] {};
    const auto busy = [&] {
      if (in_others.charge(0, 60, kCapacity)) in_others.discharge(0, 60);
    };
    const OtherProcess one(nothing, busy);
    const OtherProcess two(nothing, busy);
    one.kill();
    two.kill();
    ASSERT_EQ(cards.used(0), 0) << i;
  }
  EXPECT_TRUE(cards.charge(0, kCapacity, kCapacity));
}

TEST(SharedCards, OfAParentAreNotThoseOfItsChild) {
  SharedCards cards;
  cards.charge(0, 30, kCapacity);
  const OtherProcess child([&] {
    cards.forget_own();
    cards.charge(0, 60, kCapacity);
    cards.discharge(0, 20);
  });
  EXPECT_EQ(cards.uses(0).size(), 2);
  EXPECT_EQ(cards.used(0), 70);
}

TEST(SharedCards, ThatCannotBeOpenedAreOnesOwn) {
  testing::internal::CaptureStderr();
  SharedCards cards("/proc/none");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "memreplay: /proc/none cannot be opened; this process has a virtual GPU of its own\n");
  EXPECT_TRUE(cards.charge(0, kCapacity, kCapacity));
  EXPECT_FALSE(cards.charge(0, 1, kCapacity));
}

}  // namespace
}  // namespace memreplay::gpu
