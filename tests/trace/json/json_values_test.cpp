#include <gtest/gtest.h>

#include "core/error.hpp"
#include "trace/json/json_node.hpp"

namespace memreplay {
namespace {

std::string complaint(const std::string& text) {
  PickleStore store(false);
  try {
    read_json_values({"x.json", text}, store);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(JsonValues, ATextThatIsNoJsonIsRefusedAtItsByte) {
  EXPECT_EQ(complaint("[1, 2]"), "none");
  EXPECT_EQ(complaint("[1, x]"),
            "x.json: byte 5: is not JSON from here on; the file is truncated or damaged");
  EXPECT_EQ(complaint("[1,"),
            "x.json: byte 4: is not JSON from here on; the file is truncated or damaged");
}

TEST(JsonValues, ANumberBeyondADoubleIsRefused) {
  EXPECT_EQ(complaint("[1e999]"), "x.json: a number of this JSON is out of range");
}

TEST(JsonValues, EqualListsUnderFramesAreOneObjectAndOthersAreNot) {
  PickleStore store(false);
  read_json_values({"x.json", R"([{"frames": [{"line": 1}]}, {"frames": [{"line": 1}]}])"}, store);
  EXPECT_EQ(store.objects.size(), 5u) << "a list, two dicts of it, one list of frames, one frame";
  PickleStore others(false);
  read_json_values({"x.json", R"([{"blocks": [{"line": 1}]}, {"blocks": [{"line": 1}]}])"}, others);
  EXPECT_EQ(others.objects.size(), 7u);
}

}  // namespace
}  // namespace memreplay
