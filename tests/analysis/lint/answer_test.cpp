#include "analysis/lint/answer.hpp"

#include <gtest/gtest.h>

#include "analysis/lint/question.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

TEST(LintAnswer, ASettingThatIsTooSmallIsAnError) {
  const LintAnswer answered = answer({.conf_or_path = "max_split_size_mb:5", .release = ""});
  EXPECT_FALSE(answered.valid());
  EXPECT_EQ(answered.conf, "max_split_size_mb:5");
}

TEST(LintAnswer, OfARecordingItLooksAtTheSettingInIt) {
  const LintAnswer answered =
      answer({.conf_or_path = MEMREPLAY_TRACES "/torch/layers_4.pickle", .release = ""});
  EXPECT_TRUE(answered.valid());
  EXPECT_THROW(answer({.conf_or_path = MEMREPLAY_TRACES "/bfc-oom.csv", .release = ""}),
               InputError);
}

std::string first_issue(const std::string& text, const std::string& version) {
  const LintAnswer answered = answer({.conf_or_path = text, .release = version});
  return answered.issues.empty() ? "" : answered.issues.front().text;
}

TEST(LintAnswer, AVariableThatTheReleaseDoesNotReadIsNamed) {
  const std::string line = "PYTORCH_ALLOC_CONF=expandable_segments:True";
  EXPECT_EQ(
      first_issue(line, "2.9.1"),
      "PyTorch 2.9.1 ignores PYTORCH_ALLOC_CONF without a word, and so none of this holds; it "
      "reads PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_EQ(first_issue(line, "2.10"), "");
  EXPECT_TRUE(first_issue(line, "").starts_with("PYTORCH_ALLOC_CONF is read from PyTorch 2.10 on"));
  EXPECT_EQ(first_issue("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "2.0.0"),
            "'expandable_segments' is known from PyTorch 2.1 on, not to 2.0.0");
}

TEST(LintAnswer, OfTheVariableForHipItIsSaidThatBuildsForCudaIgnoreIt) {
  const std::string line = "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True";
  EXPECT_TRUE(first_issue(line, "2.9.1")
                  .starts_with("PyTorch 2.9.1 built for CUDA ignores PYTORCH_HIP_ALLOC_CONF"));
  EXPECT_NE(first_issue(line, "").find("earlier releases built for CUDA ignore it"),
            std::string::npos);
}

TEST(LintAnswer, ALineToPasteIsTakenApart) {
  const LintAnswer answered = answer(
      {.conf_or_path = "export PYTORCH_CUDA_ALLOC_CONF='max_split_size_mb:64'", .release = ""});
  EXPECT_TRUE(answered.issues.empty());
  EXPECT_EQ(answered.variable, "PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_EQ(answered.conf, "max_split_size_mb:64");
}

TEST(LintAnswer, AMistypedVariableIsAnError) {
  const LintAnswer answered =
      answer({.conf_or_path = "PYTORCH_CUDA_ALOC_CONF=max_split_size_mb:64", .release = ""});
  EXPECT_FALSE(answered.valid());
  EXPECT_EQ(answered.issues.at(0).text,
            "PyTorch reads no variable 'PYTORCH_CUDA_ALOC_CONF'; did you mean "
            "'PYTORCH_CUDA_ALLOC_CONF'?");
}

}  // namespace
}  // namespace memreplay
