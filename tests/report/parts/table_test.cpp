#include "report/parts/table.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

const Table kTable{{{"strategy", true}, {"reserved"}}, {{"torch", "5184 MiB"}, {"bfc", "12 GiB"}}};

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

TEST(TextTable, LettersOfSeveralBytesTakeOneColumn) {
  const std::string text = text_table({kTable.columns, {{"é", "1 B"}, {"ab", "2 B"}}});
  EXPECT_NE(text.find(" é              1 B\n ab             2 B\n"), std::string::npos) << text;
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
