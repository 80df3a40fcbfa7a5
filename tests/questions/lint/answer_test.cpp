#include "questions/lint/answer.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(first_issue(line, "2.9.1"),
            "PyTorch 2.9.1 ignores PYTORCH_ALLOC_CONF silently, so none of this has an effect; it "
            "reads PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_EQ(first_issue(line, "2.10"), "");
  EXPECT_TRUE(first_issue(line, "").starts_with("PYTORCH_ALLOC_CONF is read from PyTorch 2.10 on"));
  EXPECT_EQ(first_issue("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "2.0.0"),
            "'expandable_segments' is known from PyTorch 2.1 on, not to 2.0.0");
}

TEST(LintAnswer, OfTheVariableForHipItIsSaidThatEarlierBuildsForCudaIgnoreIt) {
  const std::string line = "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True";
  EXPECT_TRUE(first_issue(line, "2.9.1")
                  .starts_with("PyTorch 2.9.1 built for CUDA ignores PYTORCH_HIP_ALLOC_CONF"));
  EXPECT_EQ(first_issue(line, ""), "");
  EXPECT_EQ(first_issue("PYTORCH_HIP_ALLOC_CONF=backend:hipMallocAsync", ""), "");
}

TEST(LintAnswer, ASwitchForCachingIsSaidToTurnItOff) {
  for (const char* device : {"CUDA", "HIP", "NPU"}) {
    const std::string line = std::string("export PYTORCH_NO_") + device + "_MEMORY_CACHING=";
    EXPECT_NE(first_issue(line + "1", "").find("turns the caching allocator off"),
              std::string::npos);
    EXPECT_NE(first_issue(line + "0", "2.6").find("'0' turns it off too"), std::string::npos);
  }
  const std::string zero = "export PYTORCH_NO_CUDA_MEMORY_CACHING=0";
  EXPECT_NE(first_issue(zero, "").find("'0' keeps the cache"), std::string::npos);
  EXPECT_NE(first_issue(zero, "2.7").find("'0' keeps the cache"), std::string::npos);
}

TEST(LintAnswer, OptionsOfTorchNpuAreKnown) {
  for (const char* conf :
       {"base_addr_aligned_kb:0", "page_size:1g", "segment_size_mb:20,expandable_segments:True",
        "multi_stream_lazy_reclaim:True", "pinned_mem_register:False"}) {
    EXPECT_EQ(first_issue(std::string("PYTORCH_NPU_ALLOC_CONF=") + conf, ""), "");
    EXPECT_EQ(first_issue(conf, ""), "");
    EXPECT_NE(first_issue(std::string("PYTORCH_CUDA_ALLOC_CONF=") + conf, "")
                  .find("PYTORCH_NPU_ALLOC_CONF has options"),
              std::string::npos);
  }
  EXPECT_EQ(first_issue("base_addr_aligned_kb:17", ""),
            "base_addr_aligned_kb is '17'; expected a whole number from 0 to 16");
  EXPECT_EQ(first_issue("PYTORCH_NPU_ALLOC_CONF=pagesize:1g", ""),
            "torch_npu has no allocator option 'pagesize'; did you mean 'page_size'?");
  EXPECT_EQ(first_issue("PYTORCH_NPU_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64", ""),
            "torch_npu refuses max_split_size_mb beside expandable_segments:True");
}

TEST(LintAnswer, WrongSeparatorsAreNamedWithWhatWasMeant) {
  EXPECT_EQ(
      first_issue("expandable_segments:True;max_split_size_mb:64", ""),
      "';' is not a separator: options are separated by ',', so the value of expandable_segments "
      "is not what it seems. Write expandable_segments:True,max_split_size_mb:64");
  EXPECT_EQ(first_issue("backend:native,max_split_size_mb=64;", "2.4").substr(0, 26),
            "';' is not a separator: op");
  EXPECT_NE(first_issue("max_split_size_mb=64", "").find("Write max_split_size_mb:64"),
            std::string::npos);
}

TEST(LintAnswer, EverySettingOfATextIsLookedAt) {
  const LintAnswer answered =
      answer({.conf_or_path = "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64\n"
                              "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:5\n",
              .release = ""});
  EXPECT_TRUE(answered.issues.empty());
  ASSERT_EQ(answered.further.size(), 1u);
  EXPECT_FALSE(answered.valid());
}

TEST(LintAnswer, OfTwoVariablesItIsSaidWhichIsRead) {
  const std::string text =
      "export PYTORCH_ALLOC_CONF=max_split_size_mb:64\n"
      "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128\n";
  const LintAnswer answered = answer({.conf_or_path = text, .release = ""});
  ASSERT_EQ(answered.further.at(0).issues.size(), 1u);
  EXPECT_EQ(answered.further[0].issues[0].text,
            "where both are set, PyTorch reads PYTORCH_CUDA_ALLOC_CONF and ignores "
            "PYTORCH_ALLOC_CONF since 2.10");
}

TEST(LintAnswer, WhatSetsNothingIsValidAndSaysSo) {
  const LintAnswer answered =
      answer({.conf_or_path = "unset PYTORCH_CUDA_ALLOC_CONF", .release = ""});
  EXPECT_TRUE(answered.valid());
  EXPECT_FALSE(answered.sets);
  EXPECT_EQ(answered.issues.size(), 1u);
}

TEST(LintAnswer, CorrectionsAreInLowerCaseAndWithPlainSeparators) {
  for (const char* text :
       {"PYTORCH_CUDA_ALLOC_CONF=MAX_SPLIT_SIZE_MB=256", "max_split_size_mb：256"}) {
    EXPECT_NE(first_issue(text, "").find("Write max_split_size_mb:256"), std::string::npos) << text;
  }
}

TEST(LintAnswer, ALineToPasteIsTakenApart) {
  const LintAnswer answered = answer(
      {.conf_or_path = "export PYTORCH_CUDA_ALLOC_CONF='max_split_size_mb:64'", .release = ""});
  EXPECT_TRUE(answered.issues.empty());
  EXPECT_EQ(answered.variable, "PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_EQ(answered.conf, "max_split_size_mb:64");
}

TEST(LintAnswer, ASettingForWindowsIsToldWhatIsIgnoredThere) {
  for (const char* line : {"$env:PYTORCH_CUDA_ALLOC_CONF=\"expandable_segments:True\"",
                           "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                           "setx PYTORCH_CUDA_ALLOC_CONF \"expandable_segments:True\""}) {
    const LintAnswer answered = answer({.conf_or_path = line, .release = ""});
    EXPECT_TRUE(answered.valid());
    ASSERT_FALSE(answered.issues.empty()) << line;
    EXPECT_NE(answered.issues.back().text.find("not supported on Windows"), std::string::npos);
  }
  EXPECT_EQ(first_issue("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", ""), "");
}

TEST(LintAnswer, VariablesOfMpsAreKnown) {
  EXPECT_EQ(first_issue("PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.7", ""), "");
  EXPECT_NE(
      first_issue("export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0", "").find("removes the upper"),
      std::string::npos);
  EXPECT_NE(first_issue("PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7", "").find("LOW_WATERMARK_RATIO"),
            std::string::npos);
  EXPECT_NE(first_issue("PYTORCH_MPS_LOW_WATERMARK_RATIO=3", "").find("expected a share"),
            std::string::npos);
}

TEST(LintAnswer, VariablesOfOtherProgramsAreNotJudged) {
  for (const char* line : {"export TF_GPU_ALLOCATOR=cuda_malloc_async", "CUDA_VISIBLE_DEVICES=0,1",
                           "XLA_PYTHON_CLIENT_MEM_FRACTION=.9", "PYTORCH_ENABLE_MPS_FALLBACK=1"}) {
    const LintAnswer answered = answer({.conf_or_path = line, .release = ""});
    EXPECT_TRUE(answered.valid()) << line;
    EXPECT_FALSE(answered.sets) << line;
    EXPECT_NE(answered.issues.at(0).text.find("no setting of PyTorch's allocator"),
              std::string::npos)
        << line;
  }
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
