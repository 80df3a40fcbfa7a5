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

TEST(Assignments, ThePlaceOfAValueIsFreeWithinItsLanguage) {
  for (const char* line :
       {"user@host:~$ export Q=Z", "(venv) PS D:\\x> setx Q \"Z\"", "C:\\> set Q=Z",
        "#    - name: Q\n#      value: Z", "- value: Z\n  name: Q",
        "{\"value\": \"Z\", \"name\": \"Q\"}", "| `Q` | `Z` |", "| Q | Z | text |", "Set Q=Z.",
        "#   - Q=Z: matches it", "`Q=Z,...`", "os.environ['Q'] = (\n    'Z'\n)",
        "os.environ['Q'] = \\\n    'Z'"}) {
    expect_found(line);
  }
}

std::vector<Assignment> found_in(std::string text) {
  for (std::size_t at = 0; (at = text.find('Q', at)) != text.npos; at += kName.size()) {
    text.replace(at, 1, kName);
  }
  return assignments_in(text);
}

TEST(Assignments, DefaultsOfExpansionsAndReadsAreValuesWithANote) {
  for (const char* text :
       {"export Q=${Q:-a:1,b:2}", "export Q=\"${Q:-a:1,b:2}\"", "export Q=${Q:-\"a:1,b:2\"}",
        ": \"${Q:=a:1,b:2}\"", "x = os.environ.get('Q', 'a:1,b:2')",
        "\"Q\": os.environ.get(\n  \"Q\", \"a:1,b:2\"\n)"}) {
    const auto found = found_in(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].conf, "a:1,b:2") << text;
    ASSERT_EQ(found[0].notes.size(), 1u) << text;
    EXPECT_TRUE(found[0].notes[0].text.starts_with("this is the default")) << text;
  }
  const auto found = found_in("export Q=${Q},a:1");
  EXPECT_EQ(found.at(0).conf, "a:1");
  EXPECT_EQ(found.at(0).notes.at(0).text,
            "what " + kName + " adds is not in the text and is not checked");
}

TEST(Assignments, WhatSetsNothingIsNoSetting) {
  for (const char* text :
       {"export Q=${Q}", "set Q=%Q%", "export Q=$Q", "echo $Q", "unset Q", "del os.environ['Q']",
        "os.environ.pop('Q', None)", "os.getenv('Q')", "Q: null", "os.environ['Q'] = conf"}) {
    const auto found = found_in(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_FALSE(found[0].sets) << text;
    EXPECT_EQ(found[0].notes.size(), 1u) << text;
  }
}

TEST(Assignments, LiteralsThatPythonJoinsAreOneValue) {
  for (const char* text :
       {"os.environ['Q'] = (\n  'a:1,'  # why\n  'b:2'\n)", "os.environ['Q'] = 'a:1,' \\\n  'b:2'",
        "os.environ.setdefault('Q', 'a:1,'\n  'b:2')"}) {
    EXPECT_EQ(found_in(text).at(0).conf, "a:1,b:2") << text;
  }
  EXPECT_EQ(found_in("os.environ['Q'] = 'a:1'\n'text'").at(0).conf, "a:1");
}

TEST(Assignments, ArgumentsOfFunctionsAreFound) {
  for (const char* function :
       {"torch.cuda.memory._set_allocator_settings", "torch._C._accelerator_setAllocatorSettings",
        "torch._C._cuda_cudaCachingAllocator_set_allocator_settings"}) {
    const auto found = assignments_in(std::string(function) + "(\n  'a:1'\n)");
    EXPECT_EQ(found.at(0).conf, "a:1") << function;
    EXPECT_TRUE(found.at(0).is_found) << function;
  }
}

TEST(Assignments, WritingsThatDoNotSetTheValueAreNoted) {
  const std::pair<const char*, const char*> faults[] = {
      {"export Q = a:1", "a shell allows no blanks"},
      {"!export Q=a:1", "each '!' of a notebook"},
      {"setx Q=a:1", "setx takes name and value"},
      {"- Q=\"a:1\"", "in a YAML list"},
      {"set Q=\"a:1\"", "cmd keeps these quotes"},
      {"%env Q=a:1 # why", "%env takes the whole line"},
      {"export Q=\"a:1,\nb:2\"", "the value contains a line break"},
      {"export Q=a:1,\nmax_split_size_mb:64", "the value ends with its line"},
  };
  for (const auto& [text, note] : faults) {
    const Assignment found = found_in(text).at(0);
    ASSERT_EQ(found.notes.size(), 1u) << text;
    EXPECT_TRUE(found.notes[0].text.starts_with(note)) << found.notes[0].text;
  }
  EXPECT_EQ(found_in("Q=backend:native max_split_size_mb:64").at(0).behind, "max_split_size_mb:64");
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
