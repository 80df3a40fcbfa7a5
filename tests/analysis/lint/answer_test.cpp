#include "analysis/lint/answer.hpp"

#include <gtest/gtest.h>

#include "analysis/lint/question.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

TEST(LintAnswer, ASettingThatIsTooSmallIsAnError) {
  const LintAnswer answered = answer({.conf_or_path = "max_split_size_mb:5", .torch_version = ""});
  EXPECT_FALSE(answered.valid());
  EXPECT_EQ(answered.conf, "max_split_size_mb:5");
}

TEST(LintAnswer, OfARecordingItLooksAtTheSettingInIt) {
  const LintAnswer answered =
      answer({.conf_or_path = MEMREPLAY_TRACES "/torch/layers_4.pickle", .torch_version = ""});
  EXPECT_TRUE(answered.valid());
  EXPECT_THROW(answer({.conf_or_path = MEMREPLAY_TRACES "/bfc-oom.csv", .torch_version = ""}),
               InputError);
}

}  // namespace
}  // namespace memreplay
