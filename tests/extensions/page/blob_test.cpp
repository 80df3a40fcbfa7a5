#include <fmt/format.h>
#include <gtest/gtest.h>

#include "extensions/page/page_data.hpp"
#include "extensions/page/unpacked.hpp"

namespace memreplay {
namespace {

std::string unpacked(const std::string& packed, std::size_t size) {
  return inflated(from_base64(packed), size);
}

TEST(Blob, HoldsItsColumnsOneBehindTheOther) {
  for (std::size_t size = 0; size < 9; ++size) {
    Blob blob;
    blob.add("first", std::string(size, 'x'));
    blob.add("second", "yz");
    EXPECT_EQ(blob.table().dump(), fmt::format(R"({{"first":[0,{0}],"second":[{0},2]}})", size));
    EXPECT_EQ(unpacked(blob.packed(), size + 2), std::string(size, 'x') + "yz");
    EXPECT_EQ(blob.packed().size() % 4, 0u);
  }
}

}  // namespace
}  // namespace memreplay
