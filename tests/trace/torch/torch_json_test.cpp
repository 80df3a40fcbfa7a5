#include <gtest/gtest.h>

#include "core/error.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {
namespace {

TorchSnapshot with_size(const char* size) {
  return read_torch_json({"x.json", std::string(R"({"segments": [], "device_traces": [[{"action":
      "alloc", "addr": 18446744073709551104, "stream": 0, "size": )") +
                                        size + "}]]}"});
}

TEST(TorchJson, WholeNumbersKeepAll64Bits) {
  const TorchSnapshot snapshot = with_size("9007199254740993");
  EXPECT_EQ(snapshot.device_traces[0][0].size, 9007199254740993u);
  EXPECT_EQ(snapshot.device_traces[0][0].address, 18446744073709551104u);
}

TEST(TorchJson, SizesAreBelow2To63) {
  EXPECT_EQ(with_size("9223372036854775807").device_traces[0][0].size, INT64_MAX);
  EXPECT_THROW(with_size("9223372036854775808"), InputError);
}

TEST(TorchJson, NumbersThatAreNotWholeAreNoSizes) {
  for (const char* size : {"512.0", "-1", "\"512\"", "null", "1e3"}) {
    EXPECT_THROW(with_size(size), InputError) << size;
  }
}

TEST(TorchJson, BrokenDocumentsAreErrorsWithAPlace) {
  try {
    with_size("]");
    FAIL() << "read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("byte"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace memreplay
