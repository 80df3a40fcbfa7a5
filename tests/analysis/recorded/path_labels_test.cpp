#include <gtest/gtest.h>

#include "analysis/recorded/places.hpp"

namespace memreplay {
namespace {

using Labels = std::map<std::string, std::string>;

TEST(PathLabels, HaveAsManyFoldersAsTellThemApart) {
  EXPECT_EQ(path_labels({"/p/enc/model.py", "/p/dec/model.py", "/p/train.py"}),
            (Labels{{"/p/enc/model.py", "enc/model.py"},
                    {"/p/dec/model.py", "dec/model.py"},
                    {"/p/train.py", "train.py"}}));
  EXPECT_EQ(
      path_labels({"/a/x/m.py", "/b/x/m.py", "/b/y/m.py"}),
      (Labels{{"/a/x/m.py", "a/x/m.py"}, {"/b/x/m.py", "b/x/m.py"}, {"/b/y/m.py", "y/m.py"}}));
}

TEST(PathLabels, APathThatEndsAnotherStaysApartFromIt) {
  EXPECT_EQ(path_labels({"m.py", "/p/m.py"}), (Labels{{"m.py", "m.py"}, {"/p/m.py", "p/m.py"}}));
  EXPECT_EQ(path_labels({"/m.py", "m.py"}), (Labels{{"/m.py", "/m.py"}, {"m.py", "m.py"}}));
}

TEST(PathLabels, TidyPathsHaveOneSpelling) {
  EXPECT_EQ(tidy_path("/a/b/../c/./d.py"), "/a/c/d.py");
  EXPECT_EQ(tidy_path("C:\\a\\b.py"), "C:/a/b.py");
  EXPECT_EQ(tidy_path("../x.py"), "../x.py");
  EXPECT_EQ(tidy_path("<a/b>"), "<a/b>");
}

}  // namespace
}  // namespace memreplay
