#include "elf/shared_object.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "capture/loaded.hpp"
#include "capture/temporary_folder.hpp"

namespace memreplay {
namespace {

using Calls = std::map<std::string, std::uint64_t>;

class WrittenObjects : public testing::Test {
 protected:
  std::filesystem::path write(const SharedObject& object) const {
    return folder_.write(object.soname, written(object));
  }

  TemporaryFolder folder_;
};

TEST_F(WrittenObjects, CountTheCallsOfEachFunction) {
  const Loaded object(
      write({"libcounts.so", {}, {}, {{"once", ""}, {"twice", ""}, {"never", ""}}}));
  EXPECT_EQ(object.call("once"), 0);
  EXPECT_EQ(object.call("twice"), 0);
  EXPECT_EQ(object.call("twice"), 0);
  EXPECT_EQ(object.calls(), (Calls{{"once", 1}, {"twice", 2}}));
}

TEST_F(WrittenObjects, GiveEachFunctionByItsVersion) {
  const Loaded object(
      write({"libversions.so.2",
             {},
             {"libversions.so.2", "NEW"},
             {{"changed", "libversions.so.2"}, {"changed", "NEW"}, {"plain", ""}}}));
  void* const first = object.find("changed", "libversions.so.2");
  void* const second = object.find("changed", "NEW");
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(object.find("changed"), first);
  EXPECT_EQ(object.find("changed", "OTHER"), nullptr);
  EXPECT_EQ(object.find("plain", "NEW"), nullptr);
  EXPECT_NE(object.find("plain"), nullptr);
}

TEST_F(WrittenObjects, GiveATextWhereTheCallerReadsOne) {
  const Loaded object(write({"libtexts.so", {}, {}, {{"ncclGetErrorString", ""}}}));
  const auto text = reinterpret_cast<const char* (*)()>(object.find("ncclGetErrorString"));
  EXPECT_STREQ(text(), "no error");
  EXPECT_EQ(object.calls(), (Calls{{"ncclGetErrorString", 1}}));
}

TEST(WrittenTexts, AreOfFunctionsThatReturnThem) {
  EXPECT_TRUE(returns_text("cudaGetErrorName"));
  EXPECT_TRUE(returns_text("cublasGetStatusString"));
  EXPECT_TRUE(returns_text("ncclGetLastError"));
  EXPECT_FALSE(returns_text("cudaGetLastError"));
  EXPECT_FALSE(returns_text("cuGetErrorString"));
  EXPECT_FALSE(returns_text("cuptiGetResultString"));
}

TEST_F(WrittenObjects, WithoutFunctionsCanBeLoaded) {
  const Loaded object(write({.soname = "libempty.so"}));
  EXPECT_EQ(object.calls(), Calls{});
}

TEST_F(WrittenObjects, GiveEachOfManyFunctions) {
  SharedObject many{.soname = "libmany.so"};
  for (int i = 0; i < 3000; ++i) many.functions.push_back({"function" + std::to_string(i), ""});
  const Loaded object(write(many));
  for (const VersionedSymbol& function : many.functions) {
    ASSERT_EQ(object.call(function.name), 0) << function.name;
  }
  EXPECT_EQ(object.find("function3000"), nullptr);
  EXPECT_EQ(object.calls().size(), 3000);
}

}  // namespace
}  // namespace memreplay
