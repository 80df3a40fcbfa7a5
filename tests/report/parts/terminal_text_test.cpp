#include <gtest/gtest.h>

#include "report/parts/text_style.hpp"

namespace memreplay {
namespace {

constexpr TextStyle kColoured{.colour = true, .unicode = true};
constexpr TextStyle kUnicode{.colour = false, .unicode = true};
constexpr TextStyle kAscii;

TEST(TerminalText, PlainTextStaysAsItIs) {
  EXPECT_EQ(terminal_text("reserved 5184 MiB\n  …é", kUnicode), "reserved 5184 MiB\n  …é");
  EXPECT_EQ(terminal_text("reserved 5184 MiB\n  and\n", kAscii), "reserved 5184 MiB\n  and\n");
}

TEST(TerminalText, ControlCharactersOfNamesAreWrittenOut) {
  EXPECT_EQ(terminal_text("a\x1b]0;title\x07\r\x7f", kUnicode), "a\\x1b]0;title\\x07\\x0d\\x7f");
  EXPECT_EQ(terminal_text(std::string_view("a\0b", 3), kUnicode), "a\\x00b");
  EXPECT_EQ(terminal_text("\u009b31m", kUnicode), "\\u009b31m");
  EXPECT_EQ(terminal_text("\u202e", kUnicode), "\\u202e");
}

TEST(TerminalText, BytesThatAreNoUtf8AreWrittenOut) {
  EXPECT_EQ(terminal_text("a\xff\xc3", kUnicode), "a\\xff\\xc3");
  EXPECT_EQ(terminal_text("\xed\xa0\x80", kAscii), "\\xed\\xa0\\x80");
}

TEST(TerminalText, OurOwnEmphasisBecomesColoursAndThatOfANameDoesNot) {
  EXPECT_EQ(terminal_text(bold("f\x1b[31m", kColoured), kColoured), "\x1b[1mf\\x1b[31m\x1b[0m");
  EXPECT_EQ(terminal_text(red("OOM", kColoured), kColoured), "\x1b[31mOOM\x1b[0m");
  EXPECT_EQ(terminal_text(red("OOM", kUnicode), kUnicode), "OOM");
  EXPECT_EQ(terminal_text("\uFDD1", kUnicode), "\\ufdd1");
}

TEST(TerminalText, NoLineIsACommandToWhoRunsABuild) {
  EXPECT_EQ(terminal_text("::error::a\n  ::b::\n\t::c\u2003::d\na ::e", kUnicode),
            "\\x3a:error::a\n  \\x3a:b::\n\t\\x3a:c\u2003::d\na ::e");
  EXPECT_EQ(terminal_text("\u00a0\u3000::a", kUnicode), "\u00a0\u3000\\x3a:a");
  EXPECT_EQ(terminal_text("\u00a0::a", kAscii), " \\x3a:a");
  EXPECT_EQ(terminal_text("a ##[add-mask]b ##vso[task.x]c ###[d] ## [e] #[f]", kUnicode),
            "a #\\x23[add-mask]b #\\x23vso[task.x]c ##\\x23[d] ## [e] #[f]");
  EXPECT_EQ(terminal_line("::a\n::b", kUnicode), "\\x3a:a\\x0a::b");
}

TEST(TerminalText, EmphasisEndsWithTheText) {
  EXPECT_EQ(terminal_text("a \uFDD1b", kColoured), "a \x1b[1mb\x1b[0m");
  EXPECT_EQ(terminal_text("\uFDD1a\uFDD0 b", kColoured), "\x1b[1ma\x1b[0m b");
}

TEST(TerminalText, WithoutUnicodeSignsBecomeWhatResemblesThem) {
  EXPECT_EQ(terminal_text("≈ 5 µs, 3 × 4 – 2 · 1 ≤ 2 … → x²", kAscii),
            "~ 5 us, 3 x 4 - 2 . 1 <= 2 ... -> x^2");
  EXPECT_EQ(terminal_text("┤█░│└──┘⣿", kAscii), "+#.|+--+#");
}

TEST(TerminalText, WithoutUnicodeLettersAreWrittenOut) {
  EXPECT_EQ(terminal_text("é", kAscii), "\\u00e9");
  EXPECT_EQ(terminal_text("\U0001F600", kAscii), "\\U0001f600");
}

TEST(TerminalText, ColumnsBehindWhatBecameLongerStayInPlace) {
  EXPECT_EQ(terminal_text("a…      1\nabcdef  2\n", kAscii), "a...    1\nabcdef  2\n");
  EXPECT_EQ(terminal_text("… b  1\n", kAscii), "... b 1\n");
}

TEST(TerminalText, ALineStaysOneLine) {
  EXPECT_EQ(terminal_line("a\nmemreplay: b\x1b[31m\u2028", kUnicode),
            "a\\x0amemreplay: b\\x1b[31m\\u2028");
  EXPECT_EQ(terminal_line("a\n…", kAscii), "a\\x0a...");
}

TEST(TerminalText, TabsAndNewlinesStay) {
  EXPECT_EQ(terminal_text("a\tb\n\tc", kUnicode), "a\tb\n\tc");
}

}  // namespace
}  // namespace memreplay
