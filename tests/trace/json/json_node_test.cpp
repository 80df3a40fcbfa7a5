#include "trace/json/json_node.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace memreplay {
namespace {

using Parsed = std::shared_ptr<const nlohmann::ordered_json>;

const std::string kFile = "f.json";

Parsed parsed(const std::string& text) { return parse_json(kFile, text, "a list"); }
JsonNode root(const Parsed& value) { return {kFile, "", *value}; }

/// What reading says of a text; "read" where it says nothing.
template <typename Read>
std::string complaint(const std::string& text, const Read& read) {
  try {
    const Parsed value = parsed(text);
    read(root(value));
  } catch (const InputError& error) {
    return error.what();
  }
  return "read";
}

TEST(JsonNode, ATextThatIsNoJsonIsRefusedAtItsPlace) {
  const auto nothing = [](const JsonNode&) {};
  EXPECT_EQ(complaint("[1,\n 2,\n x]", nothing), "f.json:3:2: is not JSON here; expected a list");
  EXPECT_EQ(complaint("x", nothing), "f.json:1:1: is not JSON here; expected a list");
  EXPECT_EQ(complaint("", nothing), "f.json:1:1: is not JSON here; expected a list");
}

TEST(JsonNode, AKeyStandsOnceInAnObject) {
  const auto nothing = [](const JsonNode&) {};
  EXPECT_EQ(complaint(R"({"a": 1, "b": {"a": 2}, "c": {"a": 3}})", nothing), "read");
  EXPECT_EQ(complaint(R"({"b": {"a": 1}, "b": 2})", nothing),
            R"(f.json: key "b" stands twice in one object)");
}

TEST(JsonNode, AnUnknownKeyIsRefusedWithTheNearestKnown) {
  const auto expect = [](const JsonNode& node) { node.expect_object({"name", "size"}); };
  EXPECT_EQ(complaint(R"({"name": 1, "size": 2})", expect), "read");
  EXPECT_EQ(complaint(R"({"name": 1, "sise": 2})", expect),
            "f.json: unknown key 'sise'; did you mean 'size'?");
  EXPECT_EQ(complaint("[]", expect), "f.json: is []; expected an object");
}

TEST(JsonNode, APlaceNamesEveryKeyAndNumberOnTheWay) {
  EXPECT_EQ(complaint(R"({"runs": [{"peak": 1}, {"peak": "x"}]})",
                      [](const JsonNode& node) {
                        for (const JsonNode& run : node.at("runs").elements()) {
                          run.at("peak").whole();
                        }
                      }),
            R"(f.json: runs[1].peak: is "x"; expected a whole number that is not negative)");
  EXPECT_EQ(complaint("{}", [](const JsonNode& node) { node.at("runs"); }),
            "f.json: has no key 'runs'");
}

TEST(JsonNode, MembersComeInTheirOrder) {
  const Parsed value = parsed(R"({"b": 1, "a": 2})");
  const auto members = root(value).members();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].first, "b");
  EXPECT_EQ(members[1].second.whole(), 2u);
  EXPECT_EQ(complaint("[]", [](const JsonNode& node) { node.members(); }),
            "f.json: is []; expected an object");
  EXPECT_EQ(complaint("{}", [](const JsonNode& node) { node.elements(); }),
            "f.json: is {}; expected a list");
}

TEST(JsonNode, AKeyIsThereOrNot) {
  const Parsed value = parsed(R"({"a": null})");
  EXPECT_TRUE(root(value).has("a"));
  EXPECT_FALSE(root(value).has("b"));
}

TEST(JsonNode, OfWhatIsLongOnlyTheKindIsSaid) {
  const auto whole = [](const JsonNode& node) { node.whole(); };
  EXPECT_EQ(
      complaint('"' + std::string(58, 'x') + '"', whole),
      "f.json: is \"" + std::string(58, 'x') + "\"; expected a whole number that is not negative");
  EXPECT_EQ(complaint('"' + std::string(59, 'x') + '"', whole),
            "f.json: is string; expected a whole number that is not negative");
}

TEST(JsonNode, ATextMayBeWrittenAsANumber) {
  const Parsed value = parsed(R"(["x", 1.5])");
  const auto elements = root(value).elements();
  EXPECT_EQ(elements[0].text(), "x");
  EXPECT_EQ(elements[0].text_or_written(), "x");
  EXPECT_EQ(elements[1].text_or_written(), "1.5");
  EXPECT_EQ(complaint("1", [](const JsonNode& node) { node.text(); }),
            "f.json: is 1; expected a text");
}

TEST(JsonNode, NumbersAreHeldToWhatTheyMean) {
  const auto whole = [](const JsonNode& node) { EXPECT_EQ(node.whole(), UINT64_MAX); };
  const auto number = [](const JsonNode& node) { EXPECT_EQ(node.number(), 0.0); };
  const auto gpu = [](const JsonNode& node) { EXPECT_EQ(node.gpu(), node.number()); };
  const auto host = [](const JsonNode& node) { EXPECT_EQ(node.gpu(), -1); };
  EXPECT_EQ(complaint("18446744073709551615", whole), "read");
  EXPECT_NE(complaint("-1", whole), "read");
  EXPECT_NE(complaint("1.0", whole), "read");
  EXPECT_EQ(complaint("0", number), "read");
  EXPECT_EQ(complaint("0.0", number), "read");
  EXPECT_EQ(complaint("-0.5", number), "f.json: is -0.5; expected a number that is not negative");
  EXPECT_NE(complaint("\"0\"", number), "read");
  EXPECT_EQ(complaint("-1", host), "read");
  EXPECT_EQ(complaint("1048576", gpu), "read");
  EXPECT_EQ(complaint("1048577", gpu),
            "f.json: is 1048577; expected the number of a device, or -1 for host memory");
  EXPECT_NE(complaint("-2", gpu), "read");
  EXPECT_NE(complaint("0.5", gpu), "read");
}

TEST(JsonNode, AFileIsReadAsItIs) {
  const std::filesystem::path folder = testing::TempDir();
  const std::string file = folder / "text_of_file";
  const std::string bytes("a\r\n\0b", 5);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(text_of_file(file), bytes);
  const auto fails_with = [](const std::string& path) -> std::string {
    try {
      return text_of_file(path);
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(fails_with(folder), folder.string() + ": is a directory");
  EXPECT_EQ(fails_with(file + ".missing"),
            file + ".missing: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace memreplay
