#include "report/parts/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace memreplay {
namespace {

const Table kTable{{{"strategy", true}, {"reserved"}}, {{"torch", "5184 MiB"}, {"bfc", "12 GiB"}}};

TEST(Table, ARowOfValuesIsWrittenAsAProgramReadsItAndFilledUp) {
  Table table{{left("trace"), "events", "exact", "event", "place"}};
  table.add("a.csv", std::uint64_t{1959}, true, std::optional<std::uint64_t>());
  table.add(std::string_view("b.csv"));
  EXPECT_EQ(csv_table(table), "trace,events,exact,event,place\na.csv,1959,true,,\nb.csv,,,,\n");
}

TEST(TextTable, NamesStandLeftAndNumbersRight) {
  EXPECT_EQ(text_table(kTable),
            " strategy  reserved\n"
            " torch     5184 MiB\n"
            " bfc         12 GiB\n");
}

TEST(TextTable, ALongNameStandsOnALineOfItsOwn) {
  const std::string name(90, 'x');
  const std::string text = text_table({kTable.columns, {{name, "1 GiB"}, {"bfc", "12 GiB"}}});
  EXPECT_EQ(text, " strategy  reserved\n " + name + "\n              1 GiB\n bfc         12 GiB\n");
}

TEST(TextTable, ALongNameAloneInItsRowLeavesNoEmptyLine) {
  const std::string name(95, 'x');
  const std::string text = text_table({kTable.columns, {{name, ""}, {"bfc", "12 GiB"}}});
  EXPECT_EQ(text, " strategy  reserved\n " + name + "\n bfc         12 GiB\n");
}

TEST(TextTable, ALineBreakInANameEndsNoLine) {
  EXPECT_EQ(text_table({kTable.columns, {{"a\nb", "1 B"}}}),
            " strategy  reserved\n a b            1 B\n");
}

TEST(TextTable, LettersOfSeveralBytesTakeOneColumn) {
  const std::string text = text_table({kTable.columns, {{"é", "1 B"}, {"ab", "2 B"}}});
  EXPECT_NE(text.find(" é              1 B\n ab             2 B\n"), std::string::npos) << text;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, display_width(line));
  }
  return widest;
}

// Ten rows with names of 30 columns.
Table wide_table() {
  Table table{{{"strategy", true}, {"peak reserved"}, spare("gap", 2), spare("device calls", 1)},
              {}};
  for (int row = 0; row < 10; ++row) {
    table.rows.push_back({std::string(30, 'x'), "5184 MiB", "1022 MiB", "12,345"});
  }
  return table;
}

TEST(TextTable, TitlesAreFoldedBeforeAnythingIsLeftOut) {
  const std::string text = text_table(wide_table(), 62);
  EXPECT_TRUE(
      text.starts_with("                                     peak            device\n"
                       " strategy                        reserved       gap   calls\n"))
      << text;
  EXPECT_LE(widest_line(text), 62u);
}

TEST(TextTable, SpareColumnsMakeRoomForNamesOfALongTableAndAreNamed) {
  const std::string text = text_table(wide_table(), 55);
  EXPECT_LE(widest_line(text), 55u) << text;
  EXPECT_EQ(text.find("1022 MiB"), std::string::npos);
  EXPECT_NE(text.find("12,345"), std::string::npos);
  EXPECT_TRUE(text.ends_with(" (no room for: gap)\n")) << text;
}

TEST(TextTable, AShortTableKeepsItsColumnsAndGivesNamesLinesOfTheirOwn) {
  Table table = wide_table();
  table.rows.resize(2);
  const std::string text = text_table(table, 55);
  EXPECT_LE(widest_line(text), 55u) << text;
  EXPECT_NE(text.find("1022 MiB"), std::string::npos);
}

TEST(TextTable, ALastColumnOfTextIsWrappedWithinItself) {
  const Table table{{{"name", true}, {"what it is", true}},
                    {{"first", "a sentence that is longer than the line"}, {"second", "short"}}};
  EXPECT_EQ(text_table(table, 36),
            " name    what it is\n"
            " first   a sentence that is longer\n"
            "         than the line\n"
            " second  short\n");
}

TEST(CsvTable, CommasAndQuotesAreProtected) {
  EXPECT_EQ(csv_table({{{"a"}, {"b"}}, {{"x,y", "say \"no\""}}}),
            "a,b\n\"x,y\",\"say \"\"no\"\"\"\n");
}

TEST(MarkdownTable, BarsAreEscapedAndNumbersAlignedRight) {
  EXPECT_EQ(markdown_table({{{"a"}, {"b"}}, {{"x|y", "1"}}}),
            "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

TEST(Wrapped, BreaksAtBlanksBeforeTheWidth) {
  EXPECT_EQ(wrapped("one two three", 2, 10), "one two\n  three");
}

}  // namespace
}  // namespace memreplay
