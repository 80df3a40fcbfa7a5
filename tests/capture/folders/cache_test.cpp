#include "folders/cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <iterator>
#include <thread>

#include "capture/temporary_folder.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebodyElse = 65534;

const std::vector<CachedFile> kFiles = {{"one.so", "the first"}, {"two.py", "the second"}};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CacheTest : public testing::Test {
 protected:
  /// Whether a cache at this place is used, and none of what is there is touched otherwise.
  static void expect_refused(const fs::path& place, const std::string& why) {
    const Cache cache({place});
    EXPECT_NE(cache.path(), place);
    EXPECT_NE(cache.note().find(why), std::string::npos) << cache.note();
    EXPECT_EQ(content_of(cache.folder_with("f", kFiles) / "one.so"), "the first");
    EXPECT_FALSE(fs::exists(place / "f"));
  }

  TemporaryFolder home;
  fs::path place = home.path() / "a" / "memreplay";
};

TEST_F(CacheTest, IsMadeWhereNothingIs) {
  const Cache cache({place});
  EXPECT_EQ(cache.path(), place);
  EXPECT_EQ(cache.note(), "");
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
}

TEST_F(CacheTest, FirstPlaceThatIsSafeIsTakenWithoutAWord) {
  const fs::path second = home.path() / "second";
  const Cache cache({home.path() / "a b", second});
  EXPECT_EQ(cache.path(), second);
  EXPECT_EQ(cache.note(), "");
}

TEST_F(CacheTest, NamesThatLdPreloadWouldCutAreRefused) {
  for (const char* name : {"a b", "a:b", "a\tb", "a\nb", "$LIB", "a;b"}) {
    expect_refused(home.path() / name, "LD_PRELOAD");
    EXPECT_FALSE(fs::exists(home.path() / name));
  }
}

TEST_F(CacheTest, AFolderThatOthersCanWriteToIsRefused) {
  fs::create_directories(place);
  ::chmod(place.c_str(), 0777);
  expect_refused(place, "can be written by others");
  ::chmod(place.c_str(), 01777);
  expect_refused(place, "can be written by others");
}

TEST_F(CacheTest, AFolderThatOthersCanReplaceIsRefused) {
  fs::create_directories(place);
  ::chmod(place.parent_path().c_str(), 0777);
  expect_refused(place, "can be written by others");
}

TEST_F(CacheTest, ALinkIsRefused) {
  fs::create_directories(place.parent_path());
  fs::create_directories(home.path() / "real");
  fs::create_directory_symlink(home.path() / "real", place);
  expect_refused(place, "is not a folder");
  EXPECT_TRUE(fs::is_empty(home.path() / "real"));
}

TEST_F(CacheTest, AFileIsRefused) {
  home.write("a/memreplay", "");
  expect_refused(place, "is not a folder");
}

TEST_F(CacheTest, SomebodyElsesIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directories(place);
  ASSERT_EQ(::chown(place.c_str(), kSomebodyElse, kSomebodyElse), 0);
  expect_refused(place, "belongs to user 65534");
  ASSERT_EQ(::chown(place.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(place.parent_path().c_str(), kSomebodyElse, kSomebodyElse), 0);
  expect_refused(place, "belongs to user 65534");
}

TEST_F(CacheTest, ALinkOfSomebodyElseOnTheWayIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  fs::create_directories(home.path() / "real" / "memreplay");
  fs::create_directory_symlink(home.path() / "real", home.path() / "a");
  EXPECT_EQ(Cache({place}).path(), place);
  ASSERT_EQ(::lchown((home.path() / "a").c_str(), kSomebodyElse, kSomebodyElse), 0);
  expect_refused(place, "belongs to user 65534");
}

TEST_F(CacheTest, AFreshFolderIsGoneAtTheEndUnlessItIsLeft) {
  const fs::path bad = home.path() / "a b";
  fs::path fresh;
  {
    const Cache cache({bad});
    fresh = cache.path();
    EXPECT_EQ(fs::status(fresh).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(fresh));
  {
    Cache cache({bad});
    fresh = *cache.leave();
  }
  EXPECT_TRUE(fs::exists(fresh));
  fs::remove_all(fresh);
  EXPECT_FALSE(Cache({place}).leave());
}

TEST_F(CacheTest, WhatIsThereAndAsItShouldBeStays) {
  const Cache cache({place});
  const fs::path file = cache.folder_with("f", kFiles) / "one.so";
  const auto number = [&] {
    struct stat is {};
    ::stat(file.c_str(), &is);
    return is.st_ino;
  };
  const ino_t before = number();
  cache.folder_with("f", kFiles);
  EXPECT_EQ(number(), before);
}

TEST_F(CacheTest, WhateverIsNotAsItShouldBeIsMadeAnew) {
  const Cache cache({place});
  const fs::path folder = cache.folder_with("f", kFiles);
  const fs::path file = folder / "one.so";
  const fs::path other = home.write("other", "the first");
  const std::vector<std::pair<const char*, std::function<void()>>> damages = {
      {"cut", [&] { fs::resize_file(file, 3); }},
      {"empty", [&] { fs::resize_file(file, 0); }},
      {"longer", [&] { std::ofstream(file, std::ios::app) << "!"; }},
      {"changed", [&] { std::ofstream(file) << "The first"; }},
      {"missing", [&] { fs::remove(file); }},
      {"a link", [&] { fs::remove(file), fs::create_symlink(other, file); }},
      {"a folder", [&] { fs::remove(file), fs::create_directories(file / "in"); }},
      {"a pipe", [&] { fs::remove(file), ::mkfifo(file.c_str(), 0600); }},
      {"writable by others", [&] { ::chmod(file.c_str(), 0666); }},
      {"one more", [&] { std::ofstream(folder / "json.py") << "raise"; }},
      {"its folder is a file", [&] { fs::remove_all(folder), std::ofstream(folder) << ""; }},
      {"its folder is a link",
       [&] { fs::remove_all(folder), fs::create_directory_symlink(home.path(), folder); }},
      {"its folder can be written by others", [&] { ::chmod(folder.c_str(), 0777); }},
      {"somebody else's",
       [&] { EXPECT_EQ(::geteuid() == 0 ? ::chown(file.c_str(), kSomebodyElse, 0) : 0, 0); }},
  };
  for (const auto& [what, damage] : damages) {
    damage();
    EXPECT_EQ(cache.folder_with("f", kFiles), folder);
    struct stat is {};
    ASSERT_EQ(::lstat(file.c_str(), &is), 0) << what;
    EXPECT_TRUE(S_ISREG(is.st_mode) && is.st_uid == ::geteuid() && (is.st_mode & 077) == 0) << what;
    EXPECT_EQ(content_of(file), "the first") << what;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2) << what;
    EXPECT_EQ(content_of(other), "the first") << what;
  }
}

TEST_F(CacheTest, ManyMayMakeOneFolderAtOnce) {
  std::vector<std::jthread> makers;
  for (int i = 0; i < 4; ++i) {
    makers.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const fs::path folder = Cache({place}).folder_with("f", kFiles);
        if (j % 5 == 0) fs::resize_file(folder / "one.so", 1);
      }
    });
  }
  makers.clear();
  const fs::path folder = Cache({place}).folder_with("f", kFiles);
  EXPECT_EQ(content_of(folder / "one.so"), "the first");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

}  // namespace
}  // namespace memreplay
