#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "trace/json/json_writer.hpp"
#include "trace/pickle/pickle_writer.hpp"

namespace memreplay {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

template <typename Write>
std::string pickle(const Write& write) {
  std::ostringstream out;
  PickleWriter writer(out);
  write(writer);
  writer.finish();
  return out.str();
}

template <typename Write>
std::string json(const Write& write, JsonLosses* losses = nullptr) {
  std::ostringstream out;
  JsonWriter writer(out);
  write(writer);
  writer.finish();
  if (losses != nullptr) *losses = writer.losses();
  return out.str();
}

/// What stands in the one frame of a small pickle.
std::string body(const std::string& pickle) {
  EXPECT_EQ(pickle.substr(0, 3), "\x80\x04\x95"s);
  return pickle.substr(11);
}

TEST(PickleWriter, WholeNumbersTakeTheFewestBytesAsInPython) {
  const auto written = [](std::int64_t number) {
    const std::string list = body(pickle([&](ValueWriter& writer) {
      writer.open(Container::list);
      writer.scalar(number);
      writer.close();
    }));
    return list.substr(2, list.size() - 4);  // without "](" and "e."
  };
  EXPECT_EQ(written(255), "K\xff"s);
  EXPECT_EQ(written(256), "M\x00\x01"s);
  EXPECT_EQ(written(65536), "J\x00\x00\x01\x00"s);
  EXPECT_EQ(written(-1), "J\xff\xff\xff\xff"s);
  EXPECT_EQ(written(std::int64_t{1} << 31), "\x8a\x05\x00\x00\x00\x80\x00"s);
  EXPECT_EQ(written(-(std::int64_t{1} << 31) - 1), "\x8a\x05\xff\xff\xff\x7f\xff"s);
  EXPECT_EQ(written(INT64_MIN), "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s);
}

TEST(PickleWriter, NumbersFrom2To63OnStayPositive) {
  EXPECT_EQ(body(pickle([](ValueWriter& writer) { writer.scalar(UINT64_MAX); })),
            "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."s);
}

TEST(PickleWriter, ATextIsWrittenOnce) {
  EXPECT_EQ(body(pickle([](ValueWriter& writer) {
              writer.open(Container::dict);
              for (int i = 0; i < 2; ++i) writer.scalar("ab"sv);
              writer.close();
            })),
            "}(\x8c\x02"s + "ab\x94h\x00u."s);
}

TEST(PickleWriter, ARecalledObjectIsMentionedAndANewOneIsNot) {
  EXPECT_EQ(body(pickle([](ValueWriter& writer) {
              writer.open(Container::list);
              EXPECT_FALSE(writer.recall(7));
              writer.open(Container::tuple, 7);
              writer.scalar(true);
              writer.close();
              EXPECT_TRUE(writer.recall(7));
              writer.close();
            })),
            "](\x28\x88t\x94h\x00"s + "e."s);
}

TEST(PickleWriter, LongListsComeInBatchesOfAThousand) {
  const std::string written = body(pickle([](ValueWriter& writer) {
    writer.open(Container::list);
    for (int i = 0; i < 1001; ++i) writer.scalar(std::monostate{});
    writer.close();
  }));
  EXPECT_EQ(written, "]("s + std::string(1000, 'N') + "e(Ne.");
}

TEST(JsonWriter, WritesWhatItIsGiven) {
  EXPECT_EQ(
      json([](ValueWriter& writer) {
        writer.open(Container::dict);
        writer.scalar("a\"\n\xC3\xA9"sv);
        writer.open(Container::tuple);
        writer.scalar(std::int64_t{-1});
        writer.scalar(UINT64_MAX);
        writer.scalar(0.0);
        writer.scalar(0.1);
        writer.scalar(1e300);
        writer.close();
        writer.scalar("b"sv);
        writer.scalar(std::monostate{});
        writer.scalar("c"sv);
        writer.open(Container::list);
        writer.close();
        writer.close();
      }),
      "{\"a\\\"\\u000a\xC3\xA9\":[-1,18446744073709551615,0.0,0.1,1e+300],\"b\":null,\"c\":[]}\n");
}

TEST(JsonWriter, NumbersBeyond64BitsAreWrittenInFull) {
  const auto written = [](HugeNumber number) {
    return json([&](ValueWriter& writer) { writer.scalar(number); });
  };
  EXPECT_EQ(written({"-123456789012345678901234567890", true}),
            "-123456789012345678901234567890\n");
  EXPECT_EQ(written({"\0\0\0\0\0\0\0\0\x01"sv, false}), "18446744073709551616\n");
  EXPECT_EQ(written({"\0\0\0\0\0\0\0\0\xff"sv, false}), "-18446744073709551616\n");
}

TEST(JsonWriter, AnyLossIsOne) {
  EXPECT_FALSE(JsonLosses{}.any());
  EXPECT_TRUE(JsonLosses{.byte_strings = 1}.any());
  EXPECT_TRUE(JsonLosses{.texts = 1}.any());
  EXPECT_TRUE(JsonLosses{.keys = 1}.any());
  EXPECT_TRUE(JsonLosses{.numbers = 1}.any());
  EXPECT_TRUE((JsonLosses{.byte_strings = 1, .texts = 1}.any()));
  EXPECT_TRUE((JsonLosses{.texts = 1, .keys = 1}.any()));
  EXPECT_TRUE((JsonLosses{.keys = 1, .numbers = 1}.any()));
}

TEST(JsonWriter, WhatJsonCannotHoldIsCounted) {
  JsonLosses losses;
  EXPECT_EQ(json(
                [](ValueWriter& writer) {
                  writer.open(Container::dict);
                  writer.scalar(std::int64_t{1});
                  writer.scalar(ByteString{"\x00\xff"sv});
                  writer.scalar("a"sv);
                  writer.scalar("\xff|"sv);
                  writer.scalar("b"sv);
                  writer.scalar(std::numeric_limits<double>::infinity());
                  writer.close();
                },
                &losses),
            "{\"1\":\"\\u0000\\u00ff\",\"a\":\"\xEF\xBF\xBD|\",\"b\":null}\n");
  EXPECT_EQ(losses.keys, 1u);
  EXPECT_EQ(losses.byte_strings, 1u);
  EXPECT_EQ(losses.texts, 1u);
  EXPECT_EQ(losses.numbers, 1u);
}

}  // namespace
}  // namespace memreplay
