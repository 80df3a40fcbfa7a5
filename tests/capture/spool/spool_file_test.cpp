#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "capture/spool/written_spool.hpp"
#include "core/error.hpp"
#include "spool/recording.hpp"

namespace memreplay::capture {
namespace {

using Pages = std::vector<DrawnPage<Record>>;

struct ReadBack {
  std::vector<std::uint64_t> orders;
  std::vector<std::uint32_t> threads;
  std::uint64_t missing = 0;
};

ReadBack told_by(const std::string& path) {
  const SpoolFile spool(path);
  SpoolRecords records(spool);
  ReadBack out;
  while (const Record* next = records.next()) {
    out.orders.push_back(next->order);
    out.threads.push_back(records.thread());
  }
  out.missing = records.missing();
  return out;
}

ReadBack told(const SpoolHead& head, const Pages& pages) {
  const SpoolFolder folder;
  return told_by(write_spool(folder.path() / "1.malloc.spool", head, pages));
}

std::size_t pages_of(const std::filesystem::path& path) { return SpoolFile(path).pages(); }

Record at(std::uint64_t order) { return record(order, Call::allocate, order * 64, 8); }

TEST(SpoolFile, RecordsOfAllThreadsComeInTheirOrder) {
  const ReadBack is = told(head_of(1), {{7, {at(1), at(4), at(5)}}, {8, {at(2), at(3), at(6)}}});
  EXPECT_EQ(is.orders, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(is.threads, (std::vector<std::uint32_t>{7, 8, 8, 7, 7, 8}));
  EXPECT_EQ(is.missing, 0);
}

TEST(SpoolFile, PagesOfAThreadMayStandAnywhere) {
  EXPECT_EQ(told(head_of(1), {{7, {at(3)}}, {8, {at(2)}}, {7, {at(1)}}}).orders,
            (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(SpoolFile, AtOneOrderAThreadsPagesComeOneAfterTheOther) {
  const ReadBack is = told(head_of(1), {{7, {at(1), at(2)}}, {7, {at(2), at(3)}}, {8, {at(2)}}});
  EXPECT_EQ(is.orders, (std::vector<std::uint64_t>{1, 2, 2, 2, 3}));
  EXPECT_EQ(is.threads, (std::vector<std::uint32_t>{7, 7, 7, 8, 7}));
}

TEST(SpoolFile, ManyThreadsAreMerged) {
  std::mt19937_64 random(1);
  Pages pages;
  std::vector<std::uint64_t> expected;
  for (std::uint32_t thread = 1; thread <= 20; ++thread) {
    std::uint64_t order = random() % 2000;
    for (int page = 0; page < 5; ++page) {
      pages.push_back({thread, {}});
      for (int i = 0; i < 50; ++i) pages.back().records.push_back(at(order += random() % 10));
      for (const Record& one : pages.back().records) expected.push_back(one.order);
    }
  }
  std::ranges::sort(expected);
  EXPECT_EQ(told(head_of(1), pages).orders, expected);
}

/// What `change` does to a spool of one thread's two pages, of 30 calls each.
template <typename Change>
ReadBack changed(Change change) {
  const SpoolFolder folder;
  Pages pages{{7, {}}, {7, {}}};
  for (std::uint64_t i = 0; i < 60; ++i) pages[i / 30].records.push_back(at(i + 1));
  const std::string path = write_spool(folder.path() / "1.malloc.spool", head_of(1), pages);
  change(path);
  return told_by(path);
}

TEST(SpoolFile, ACallThatIsNotWholeIsMissing) {
  const ReadBack is = changed([](const std::string& path) {
    std::filesystem::resize_file(path, 2 * kSpoolPageBytes + sizeof(SpoolPageHead) + 1);
  });
  EXPECT_EQ(is.orders.size(), 30);
  EXPECT_EQ(is.missing, 1);
}

TEST(SpoolFile, APageThatIsLostIsMissing) {
  const ReadBack is = changed([](const std::string& path) {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(kSpoolPageBytes)
        << std::string(kSpoolPageBytes, '\0');
  });
  EXPECT_EQ(is.orders.size(), 30);
  EXPECT_EQ(is.missing, 1);
}

TEST(SpoolFile, PagesThatAreNotUsedYetAreNothing) {
  const ReadBack is = told(head_of(1), {{7, {at(1)}}, {8, {}}, {0, {}}, {0, {}}});
  EXPECT_EQ(is.orders.size(), 1);
  EXPECT_EQ(is.missing, 0);
  EXPECT_TRUE(told(head_of(1), {}).orders.empty());
}

TEST(SpoolFile, WhatIsNoSpoolIsRefused) {
  const SpoolFolder folder;
  EXPECT_THROW(pages_of(folder.path() / "none"), InputError);
  SpoolHead head = head_of(1);
  head.magic[0] = 'x';
  EXPECT_THROW(told(head, {}), InputError);
  head = head_of(1);
  head.version = 9;
  EXPECT_THROW(told(head, {}), InputError);
  EXPECT_THROW(told(head_of(1, "malloc", 8192), {}), InputError);
  const std::ofstream empty(folder.path() / "empty");
  EXPECT_THROW(pages_of(folder.path() / "empty"), InputError);
}

TEST(Processes, EachSpoolOfAFolderIsOneByTheTimeWhenItBegins) {
  const SpoolFolder folder;
  SpoolHead later = head_of(5);
  later.begun_unix_ns = 2;
  std::strcpy(later.forked_from, "9.malloc.spool");
  write_spool(folder.path() / "5.malloc.spool", later, Pages());
  write_spool(folder.path() / "9.malloc.spool", head_of(9), Pages());
  const std::ofstream other(folder.path() / "other.txt");
  const std::ofstream damaged(folder.path() / "7.malloc.spool");
  const auto [all, running, unreadable] = processes_in(folder.path());
  EXPECT_TRUE(running.empty());
  ASSERT_EQ(unreadable.size(), 1);
  EXPECT_NE(unreadable[0].find("7.malloc.spool: is empty"), std::string::npos);
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0].process, 9);
  EXPECT_FALSE(all[0].is_forked);
  EXPECT_EQ(all[0].recorder, "malloc");
  EXPECT_EQ(all[0].command, (std::vector<std::string>{"program", "argument"}));
  EXPECT_EQ(all[1].process, 5);
  EXPECT_TRUE(all[1].is_forked);
}

}  // namespace
}  // namespace memreplay::capture
