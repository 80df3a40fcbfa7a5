#include "report/parts/paragraphs.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

std::string paragraph(std::string_view text, std::size_t width) {
  Sheet sheet({.width = width});
  append_paragraph(sheet, text, 2);
  return sheet.text();
}

TEST(Paragraph, FollowsTheWidthOfItsStyle) {
  EXPECT_EQ(paragraph("one two three four", 12), "  one two\n  three four\n");
  EXPECT_EQ(paragraph("one two three four", 100), "  one two three four\n");
  EXPECT_EQ(paragraph("", 100), "");
}

TEST(Paragraph, ACommandStandsOnALineOfItsOwnUnbroken) {
  EXPECT_EQ(paragraph("Try:\nmemreplay tune 'a file.pickle' --runs 5000", 12),
            "  Try:\n    memreplay tune 'a file.pickle' --runs 5000\n");
}

TEST(ShellWord, IsQuotedOnlyWhereTheShellWouldTakeItApart) {
  EXPECT_EQ(shell_word("expandable_segments:True,max_split_size_mb:64"),
            "expandable_segments:True,max_split_size_mb:64");
  EXPECT_EQ(shell_word("roundup_power2_divisions:[256:1,>:8]"),
            "'roundup_power2_divisions:[256:1,>:8]'");
  EXPECT_EQ(shell_word("my run's.pickle"), "'my run'\\''s.pickle'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(AnswerAgain, IsSaidWhereTheScreenHasScrolledItAway) {
  const auto said = [](std::size_t height) {
    Sheet out({.height = height});
    for (int line = 0; line < 10; ++line) append_paragraph(out, "a line");
    append_answer_again(out, "The answer.");
    return out.text().ends_with("a line\n\n The answer.\n");
  };
  EXPECT_TRUE(said(11));
  EXPECT_FALSE(said(12));
  EXPECT_FALSE(said(0)) << "nobody looks at a screen";
}

TEST(PathWord, NoPathBeginsLikeAnOption) {
  EXPECT_EQ(path_word("-s.pickle"), "./-s.pickle");
  EXPECT_EQ(path_word("a b.pickle"), "'a b.pickle'");
  EXPECT_EQ(path_word("run.pickle"), "run.pickle");
}

}  // namespace
}  // namespace memreplay
