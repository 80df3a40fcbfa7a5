#include "report/parts/html.hpp"

#include <gtest/gtest.h>

#include "report/parts/escapes.hpp"

namespace memreplay {
namespace {

TEST(Html, MarkupInATextIsMadeHarmless) {
  EXPECT_EQ(markup_text("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(html_text("p", "1 < 2", "quiet"), "<p class=\"quiet\">1 &lt; 2</p>\n");
}

TEST(Html, ATableHasItsTitlesAndKeepsNamesLeft) {
  const std::string table =
      html_table({{{"strategy", true}, {"reserved"}}, {{"torch<", "5 MiB"}}}, "Runs & more");
  EXPECT_NE(table.find("<caption>Runs &amp; more</caption>"), std::string::npos);
  EXPECT_NE(table.find("<th scope=\"col\" class=\"left\">strategy</th><th scope=\"col\">reserved"),
            std::string::npos);
  EXPECT_NE(table.find("<td class=\"left\">torch&lt;</td><td>5 MiB</td>"), std::string::npos);
}

}  // namespace
}  // namespace memreplay
