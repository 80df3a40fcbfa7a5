#include "strategy/torch/assignment.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memreplay::torch {
namespace {

const std::string kName = "PYTORCH_CUDA_ALLOC_CONF";
const std::string kConf = "max_split_size_mb:256";

void expect_found(std::string line) {
  for (const auto& [mark, text] : {std::pair('Q', kName), std::pair('Z', kConf)}) {
    const std::size_t at = line.find(mark);
    line.replace(at, 1, text);
  }
  const std::vector<Assignment> found = assignments_in(line);
  ASSERT_EQ(found.size(), 1u) << line;
  EXPECT_EQ(found[0].variable, kName) << line;
  EXPECT_EQ(found[0].conf, kConf) << line;
  EXPECT_EQ(found[0].behind, "") << line;
}

TEST(Assignments, LinesOfShellsAreTakenApart) {
  for (const char* line : {"Q=Z",
                           "export Q=Z",
                           "export Q='Z'",
                           "export Q=\"Z\"; python x.py",
                           "export Q=Z && run",
                           "Q=Z python train.py --bf16",
                           "env Q=Z python x.py",
                           "Q=Z; export X",
                           "!Q=Z python x.py",
                           "%env Q=Z",
                           "set Q=Z",
                           "set \"Q=Z\"",
                           "set Q=Z && python x.py",
                           "@set Q=Z",
                           "setx Q \"Z\"",
                           "setx Q Z",
                           "$env:Q = \"Z\"",
                           "$env:Q='Z'; python x.py",
                           "setenv Q Z",
                           "set -gx Q Z",
                           "export Q=Z # helps",
                           "bash -c \"Q=Z python x.py\"",
                           "`Q=Z`",
                           "[Environment]::SetEnvironmentVariable('Q', 'Z', 'User')",
                           "conda env config vars set Q=Z",
                           "sbatch --export=ALL,Q=Z,OTHER=1 job.sh",
                           "#SBATCH --export=ALL,Q=Z",
                           "(Q=Z run)",
                           "docker run -e Q=Z image",
                           "docker run -e 'Q=Z' image",
                           "docker run --env=\"Q=Z\" image"}) {
    expect_found(line);
  }
}

TEST(Assignments, LinesOfOtherLanguagesAreTakenApart) {
  for (const char* line : {"os.environ[\"Q\"] = \"Z\"",
                           "os.environ['Q']='Z'  # helps",
                           "os.environ.setdefault(\"Q\", \"Z\")",
                           "os.environ.update({\"Q\": \"Z\", \"A\": \"b\"})",
                           "os.environ.setdefault(\n    'Q',\n    'Z')",
                           "setenv(\"Q\", \"Z\", 1);",
                           "ENV Q=Z",
                           "ENV Q Z",
                           "Q Z",
                           "[{name: Q, value: Z}]",
                           "RUN a\nENV Q Z \\\n  A=b",
                           "ENV A=b \\\n    Q=Z \\\n    C=d",
                           "Q: Z",
                           "  Q: \"Z\"  # on",
                           "  - Q=Z",
                           "- \"Q=Z\"",
                           "- name: Q\n  value: Z",
                           "- name: Q\n  value: \"Z\"",
                           "{\"name\": \"Q\", \"value\": \"Z\"}",
                           "{\"env\": {\"Q\": \"Z\"}}",
                           "{\\\"Q\\\": \\\"Z\\\"}",
                           "name = \"Q\"\nvalue = \"Z\"",
                           "Q = \"Z\"",
                           "Q := Z",
                           "Environment=\"Q=Z\"",
                           "monkeypatch.setenv(\"Q\", r\"Z\")",
                           "dict(Q='Z')"}) {
    expect_found(line);
  }
}

TEST(Assignments, BlanksAreOfTheValueWhereItsLineOrQuotesHoldIt) {
  const std::string both = "max_split_size_mb:64, backend:native";
  for (const std::string& line : std::vector<std::string>{
           "set " + kName + "=" + both, kName + ": " + both, "ENV " + kName + " " + both,
           "export " + kName + "='" + both + "'", "-e \"" + kName + "=" + both + "\""}) {
    EXPECT_EQ(assignments_in(line).at(0).conf, both) << line;
  }
  const Assignment cut = assignments_in("export " + kName + "=" + both).at(0);
  EXPECT_EQ(cut.conf, "max_split_size_mb:64,");
  EXPECT_EQ(cut.behind, "backend:native");
}

TEST(Assignments, OtherSeparatorsStay) {
  EXPECT_EQ(assignments_in(kName + "=a:1;b=2 run").at(0).conf, "a:1;b=2");
}

TEST(Assignments, ATextMayHaveSeveral) {
  const auto found = assignments_in("# export " + kName + "=a:0\nexport " + kName +
                                    "=a:1\nexport PYTORCH_ALLOC_CONF=b:2\necho $" + kName +
                                    "\nif [ \"$" + kName + "\" == \"\" ]; then\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].conf, "a:1");
  EXPECT_EQ(found[1].variable, "PYTORCH_ALLOC_CONF");
  EXPECT_EQ(assignments_in("# export " + kName + "=a:0").at(0).conf, "a:0");
}

TEST(Assignments, WhatAssignsNothingIsASetting) {
  for (const std::string& text :
       std::vector<std::string>{kConf, "'" + kConf + "'", "\"" + kConf + "\"\n", kConf + " # on"}) {
    const Assignment setting = assignments_in(text).at(0);
    EXPECT_EQ(setting.variable, "") << text;
    EXPECT_EQ(setting.conf, kConf) << text;
  }
  EXPECT_EQ(assignments_in("OTHER=a:1").at(0).variable, "OTHER");
  EXPECT_EQ(assignments_in("").at(0).conf, "");
}

}  // namespace
}  // namespace memreplay::torch
