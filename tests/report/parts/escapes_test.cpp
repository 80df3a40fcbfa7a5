#include "report/parts/escapes.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TEST(VisibleText, WritesOutWhatIsNotSeen) {
  EXPECT_EQ(visible_text("a\x1b[2J\r\x7f\u009b\u202e\uFFFF\xff é\n\tb"),
            "a\\x1b[2J\\x0d\\x7f\\u009b\\u202e\\uffff\\xff é\n\tb");
  EXPECT_EQ(visible_text(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(visible_text("  ::a\x01  b"), "  ::a\\x01  b");
}

TEST(MarkupText, HasNoMarkupAndNoCharacterThatXmlRefuses) {
  EXPECT_EQ(markup_text("<a href='x' title=\"y\">&\uFFFE"),
            "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;\\ufffe");
}

TEST(MarkdownText, LeavesOurOwnSentencesAsTheyAre) {
  for (const char* text :
       {"Fragmentation: the 760 MiB request would have fitted, with 46.8 MiB to spare.",
        "expandable_segments:True serves every request (+4.5 %, -3).",
        "model.py:13 forward, 40 MiB", "traces/torch/gpt_train_oom.pickle: 730 events",
        "a & b, 3 > 2, #, @, 5 / 4, 1.5"}) {
    EXPECT_EQ(markdown_text(text), text);
  }
  EXPECT_EQ(markdown_words("-"), "-");
}

TEST(MarkdownText, HasNoMarkOfMarkdown) {
  EXPECT_EQ(markdown_text("<module> __init__ a*b `c` [d](e) f|g \\ ~h~ $i$"),
            "\\<module> \\_\\_init\\_\\_ a\\*b \\`c\\` \\[d](e) f\\|g \\\\ \\~h\\~ \\$i\\$");
  EXPECT_EQ(markdown_text("&lt; &#64;"), "\\&lt; \\&`#`64;");
  EXPECT_EQ(markdown_text("https://a.b www.a.b"), "https:\\//a.b www\\.a.b");
  EXPECT_EQ(markdown_text("@user a@b #12"), "`@`user a`@`b `#`12");
}

TEST(MarkdownText, BeginsNoBlock) {
  EXPECT_EQ(markdown_text("# a\n- b\n+ c\n> d\n12. e\n1) f\n---\n===\n * g"),
            "\\# a\n\\- b\n\\+ c\n\\> d\n12\\. e\n1\\) f\n\\---\n\\===\n \\* g");
  EXPECT_EQ(markdown_words("a\n# b"), "a # b");
}

TEST(MarkdownCode, StaysCodeOnOneLine) { EXPECT_EQ(markdown_code("a`b\nc\x1b"), "`a'b c\\x1b`"); }

}  // namespace
}  // namespace memreplay
