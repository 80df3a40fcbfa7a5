#include "record/preparation.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "capture/temporary_folder.hpp"
#include "folders/cache.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// A torch and an engine as packages.
fs::path packages_in(const TemporaryFolder& folder) {
  const fs::path packages = folder.path() / "site-packages";
  const fs::path torch = MEMREPLAY_PRETENDED_TORCH;
  fs::create_directories(packages);
  fs::copy(torch, packages / "torch", fs::copy_options::recursive);
  fs::copy(torch / "engine", packages / "engine");
  folder.write("site-packages/torch/__init__.py", "");
  return packages;
}

TEST(Preparation, ListsByLibraryWhatDoesNothing) {
  const TemporaryFolder folder;
  Cache cache({folder.path() / "cache"});
  const PreparedTorch made = prepared(cache, packages_in(folder) / "torch");
  using Neutral = std::map<std::string, std::vector<std::string>>;
  EXPECT_EQ(made.neutral, (Neutral{{"engine/libengine.so", {"cudaGetWhatIsNew"}}}));
  EXPECT_TRUE(fs::exists(made.stand_ins / "libcudart.so.13"));
}

TEST(Preparation, SaysWhichPackageMayCallWhatHandsNothingBack) {
  const TemporaryFolder folder;
  const Cache cache({folder.path() / "cache"});
  ::setenv("PYTHONPATH", packages_in(folder).c_str(), 1);
  EXPECT_EQ(
      prepare_for({"python3"}, cache),
      std::vector<std::string>{"engine/libengine.so may call cudaGetWhatIsNew, which the virtual "
                               "GPU does not have: such a call returns 0 and gives no result"});
  ::unsetenv("PYTHONPATH");
  EXPECT_TRUE(prepare_for({"sh"}, cache).empty());
}

}  // namespace
}  // namespace memreplay
