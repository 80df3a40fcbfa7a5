#include "trace/json/json.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace memreplay {
namespace {

TEST(Json, PairsThatBeginWithATextAreAnObjectInTheirOrder) {
  const Json json = {{"b", 1}, {"a", {1.5, -2, "x"}}, {"c", {{"d", nullptr}}}};
  EXPECT_EQ(json.dump(), R"({"b":1,"a":[1.5,-2,"x"],"c":{"d":null}})");
}

TEST(Json, OtherValuesAreAnArray) {
  const Json json = {{"a", 1, true}, {2, 3}};
  EXPECT_EQ(json.dump(), R"([["a",1,true],[2,3]])");
}

TEST(Json, AnArrayOfPairsHasToBeSaid) { EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])"); }

TEST(Json, AKeyIsAddedWhereItIsFirstSetAndKeepsItsPlace) {
  Json json;
  json["b"]["c"] = Json::array();
  json["a"] = 1;
  json["b"]["c"].push_back({{"d", 2}});
  json.update({{"a", 3}, {"e", false}});
  EXPECT_EQ(json.dump(), R"({"b":{"c":[{"d":2}]},"a":3,"e":false})");
}

TEST(Json, AValueOfTheSameObjectCanBeCopiedToANewKey) {
  const std::string text = "longer than what a string holds in itself";
  Json json;
  json["0"] = text;
  for (int i = 1; i < 20; ++i) json[std::to_string(i)] = json["0"];
  for (int i = 0; i < 20; ++i) EXPECT_EQ(json[std::to_string(i)].dump(), '"' + text + '"') << i;
}

TEST(Json, WithAnIndentEveryValueHasItsLine) {
  const Json json = {{"a", {1, 2}}, {"b", Json::array()}, {"c", Json::object()}};
  EXPECT_EQ(json.dump(2), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": [],\n  \"c\": {}\n}");
}

TEST(Json, AnIndentOfNothingStillBreaksLines) {
  EXPECT_EQ(Json({{"a", {1, 2}}}).dump(0), "{\n\"a\": [\n1,\n2\n]\n}");
}

TEST(Json, NumbersKeepAllTheirDigits) {
  const Json json = {UINT64_MAX, INT64_MIN, 0.1, 1e300, 3.0, std::nan("")};
  EXPECT_EQ(json.dump(), "[18446744073709551615,-9223372036854775808,0.1,1e+300,3.0,null]");
}

TEST(Json, TextsAreEscapedAndBytesThatAreNoUtf8Replaced) {
  EXPECT_EQ(Json("a\"\n\xff").dump(), "\"a\\\"\\n\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace memreplay
