#include "report/parts/json_fields.hpp"

#include <gtest/gtest.h>

namespace memreplay {

struct Room {
  std::string name;
  std::optional<int> floor;
};

struct House {
  std::vector<Room> rooms;
  std::map<std::string, double> rents;
  BytesInterval range;
  std::optional<Room> cellar;
};

void fields(JsonFields& f, const Room& room) {
  f.called("room");
  f("name", room.name, "on its door");
  if (f.sometimes(room.floor.has_value())) f("floor", room.floor, "from 0");
}

void fields(JsonFields& f, const House& house) {
  f("rooms", house.rooms, "all");
  f("rents", house.rents, "by month");
  f("range", house.range, "[low, high]");
  f("cellar", house.cellar, "below");
}

namespace {

TEST(JsonFields, AnAnswerIsWrittenWithWhatItHolds) {
  const House house{{{"hall", 0}, {"attic", std::nullopt}}, {{"May", 1.5}}, {1, 2}, std::nullopt};
  EXPECT_EQ(JsonFields::of(house).dump(),
            R"({"rooms":[{"name":"hall","floor":0},{"name":"attic"}],"rents":{"May":1.5},)"
            R"("range":[1,2],"cellar":null})");
}

TEST(JsonFields, ADefaultAnswerGivesTheSchema) {
  Json definitions = Json::object();
  JsonFields f(definitions);
  fields(f, House());
  EXPECT_EQ(
      f.type().schema("").dump(),
      R"({"type":"object","properties":{"rooms":{"type":"array","items":{"$ref":"#/$defs/room"},)"
      R"("description":"all"},"rents":{"type":"object","additionalProperties":{"type":"number"},)"
      R"("description":"by month"},"range":{"type":"array","items":{"type":"integer"},)"
      R"("description":"[low, high]"},"cellar":{"anyOf":[{"$ref":"#/$defs/room"},{"type":"null"}],)"
      R"("description":"below"}},"required":["rooms","rents","range","cellar"],)"
      R"("additionalProperties":false})");
}

TEST(JsonFields, AKeyThatMayLackIsNotRequired) {
  Json definitions = Json::object();
  JsonFields f(definitions);
  fields(f, Room());
  f.type();
  EXPECT_EQ(
      definitions["room"].dump(),
      R"({"type":"object","properties":{"name":{"type":"string","description":"on its door"},)"
      R"("floor":{"type":["integer","null"],"description":"from 0"}},"required":["name"],)"
      R"("additionalProperties":false})");
}

}  // namespace
}  // namespace memreplay
