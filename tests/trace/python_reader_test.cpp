#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/error.hpp"
#include "pickle_bytes.hpp"
#include "trace/reader.hpp"

#ifdef MEMREPLAY_PYTHON_READER

namespace memreplay {
namespace {

/// The recording, or the complaint where there is none.
std::pair<Recording, bool> outcome(const std::string& path, bool python) {
  try {
    return {read_recording(path, {.python_reader = python}), true};
  } catch (const InputError&) {
    return {{}, false};
  }
}

TEST(PythonReader, GivesTheSameRecordingForEveryPickle) {
  const std::filesystem::path corpus = std::filesystem::path(MEMREPLAY_SHARED) / "corpus";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no corpus beside the checkout";
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::recursive_directory_iterator(corpus)) {
    // Beside the recordings lie texts, some of which are named as recordings.
    const bool is_text = file.path().parent_path() == corpus / "texts";
    if (file.path().extension() == ".pickle" && !is_text) paths.push_back(file.path().string());
  }
  std::ranges::sort(paths);
  EXPECT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    const auto native = outcome(path, false);
    EXPECT_TRUE(native.second) << path;
    EXPECT_TRUE(outcome(path, true) == native) << path;
  }
}

/// What the reader says of these bytes.
std::string complaint_of_python(const std::string& bytes) {
  const auto path = std::filesystem::temp_directory_path() / ("global." + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary) << bytes;
  std::string message;
  try {
    read_recording(path.string(), {.python_reader = true});
  } catch (const InputError& error) {
    message = error.what();
  }
  std::filesystem::remove(path);
  return message;
}

TEST(PythonReader, RefusesEveryGlobal) {
  EXPECT_THAT(complaint_of_python(kProto4 + "]cos\nsystem\n(X\4\0\0\0true\x85Ra."s),
              testing::HasSubstr("os.system': this file wants to run code; refused"));
}

TEST(PythonReader, ItsErrorsAreWholeAndOnOneLine) {
  const std::string error =
      complaint_of_python(kProto4 + text("o\ns") + text("sys\ntem") + "\x93.");
  EXPECT_THAT(error,
              testing::EndsWith("global 'o?s.sys?tem': this file wants to run code; refused"));
  for (const std::string& bytes : {kProto4 + "Fa\nb\n.", kProto4 + "]", kProto4 + "\x8c\1\xff."}) {
    EXPECT_THAT(complaint_of_python(bytes), testing::Not(testing::HasSubstr("\n")));
    EXPECT_THAT(complaint_of_python(bytes), testing::HasSubstr("global."));
  }
}

TEST(PythonReader, ReadsALineThatIsNoneAsTheOtherDoes) {
  for (const std::string& line : {number(-1), "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0"s}) {
    const auto path = std::filesystem::temp_directory_path() / ("line." + std::to_string(getpid()));
    std::ofstream(path, std::ios::binary)
        << snapshot(entry("alloc", 4096, 512,
                          text("frames") + list(dict(text("name") + text("f") + text("filename") +
                                                     text("a.py") + text("line") + line))));
    const auto native = outcome(path.string(), false);
    EXPECT_TRUE(native.second);
    EXPECT_EQ(native.first.frames.at(0).line, kNoLine);
    EXPECT_TRUE(outcome(path.string(), true) == native);
    std::filesystem::remove(path);
  }
}

TEST(PythonReader, ReadsPicklesOnly) {
  const auto path = std::filesystem::temp_directory_path() / ("json." + std::to_string(getpid()));
  std::ofstream(path) << R"({"segments": []})";
  EXPECT_THROW(read_recording(path.string(), {.python_reader = true}), UsageError);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace memreplay

#endif
