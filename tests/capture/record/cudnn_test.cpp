#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "capture/gpu/gpu.hpp"
#include "core/error.hpp"
#include "record/cudnn_library.hpp"
#include "record/cudnn_service.hpp"

namespace memreplay {
namespace {

const std::string kFolder = std::filesystem::path(MEMREPLAY_PRETENDED_CUDNN).parent_path();
const std::string kCard = R"({"warpSize":32})";

std::string answers_to(const std::string& questions, const std::string& folder = kFolder,
                       const std::string& driver = "") {
  std::istringstream asked(questions);
  std::ostringstream answered;
  answer_graphs(folder, driver, asked, answered);
  return answered.str();
}

TEST(CudnnLibrary, NamesTheEnginesThatHaveAPlan) {
  const std::string graph =
      "17 901:1:1:00000000 902:3:2:01000000000000000200000000000000;"
      "15 801:15:1:0;";
  EXPECT_EQ(answers_to("0\t" + kCard + "\t" + graph + "\n"),
            "ok 9.19.0 40:1000:2,5: 42:3000:2,5:\n");
}

TEST(CudnnLibrary, TellsThePlanOfAnEngineOfItsAnswer) {
  EXPECT_EQ(answers_to("0#1\t" + kCard + "\t15;\n"), "ok 9.19.0 {\"engine\":42}\n");
  EXPECT_TRUE(answers_to("0#2\t" + kCard + "\t15;\n").starts_with("error "));
}

TEST(CudnnLibrary, ThatHasNoEngineInAnyModeDoesNotAnswer) {
  const std::string asked = "3\t" + kCard + "\t15;\n";
  ::setenv("PRETENDED_CUDNN", "has none", 1);
  EXPECT_EQ(answers_to(asked), "error cuDNN 9.19.0 has no engine for it\n");
  ::setenv("PRETENDED_CUDNN", "has none preferred", 1);
  EXPECT_EQ(answers_to(asked), "ok 9.19.0\n");
  ::unsetenv("PRETENDED_CUDNN");
}

TEST(CudnnLibrary, FindsADriverForWhatItCompilesAndPlansNothingOfIt) {
  ::setenv("PRETENDED_CUDNN", "compiles", 1);
  EXPECT_EQ(answers_to("3\t" + kCard + "\t15;\n", kFolder, MEMREPLAY_CUDNN_DRIVER),
            "ok 9.19.0 40:1001:2,5:0 41:2001:2,5:0 42:3001:2,5:0\n");
  ::unsetenv("PRETENDED_CUDNN");
}

TEST(CudnnLibrary, AnswersEachQuestionWithOneLine) {
  EXPECT_EQ(answers_to("0\t{}\t15;\nx\t\t\n"),
            "error cuDNN 9.19.0 says 2000: HasMember(\"warpSize\") is false\n"
            "error the question has 'x'; expected a number\n");
}

TEST(CudnnLibrary, SaysWhatItCannotLoad) {
  EXPECT_EQ(answers_to("0\t\t\n", "/nowhere").rfind("error /nowhere/libcudnn.so.9: ", 0), 0u);
}

TEST(CudnnLibrary, BeforeRelease98IsNotAsked) {
  ::setenv("PRETENDED_CUDNN", "is old", 1);
  EXPECT_EQ(answers_to("0\t" + kCard + "\t15;\n"),
            "error cuDNN 9.1.0 answers only where there is a GPU; expected 9.8 or later\n");
  ::unsetenv("PRETENDED_CUDNN");
}

TEST(CudnnService, WantsAFolderThatHasTheLibrary) {
  EXPECT_THROW(CudnnService(MEMREPLAY_PROGRAM, "/nowhere"), UsageError);
}

#ifdef MEMREPLAY_GPU_IS_TESTED
using gpu::Gpu;
using gpu::Handle;

Handle descriptor(const Gpu& gpu, int kind) {
  Handle made = nullptr;
  EXPECT_EQ(gpu("cudnnBackendCreateDescriptor", kind, &made), 0);
  return made;
}

void set(const Gpu& gpu, Handle of, int name, int type, const void* element) {
  EXPECT_EQ(gpu("cudnnBackendSetAttribute", of, name, type, std::int64_t{1}, element), 0);
}

std::int64_t get(const Gpu& gpu, Handle of, int name, int type, std::int64_t room, void* elements) {
  std::int64_t count = 0;
  EXPECT_EQ(gpu("cudnnBackendGetAttribute", of, name, type, room, &count, elements), 0);
  return count;
}

/// For a graph, in the order of the heuristics.
std::vector<Handle> engines_of(const Gpu& gpu) {
  Handle graph = descriptor(gpu, 15);
  Handle heuristic = descriptor(gpu, 4);
  set(gpu, heuristic, 201, 15, &graph);
  std::vector<Handle> engines(static_cast<std::size_t>(get(gpu, heuristic, 202, 15, 0, nullptr)));
  for (Handle& engine : engines) engine = descriptor(gpu, 3);
  get(gpu, heuristic, 202, 15, static_cast<std::int64_t>(engines.size()), engines.data());
  return engines;
}

Handle plan_of(const Gpu& gpu, Handle engine) {
  const Handle plan = descriptor(gpu, 5);
  set(gpu, plan, 401, 15, &engine);
  return plan;
}

std::vector<std::int64_t> workspaces(const Gpu& gpu) {
  std::vector<std::int64_t> found;
  for (const Handle engine : engines_of(gpu)) {
    const Handle plan = plan_of(gpu, engine);
    get(gpu, plan, 402, 3, 1, &found.emplace_back());
    EXPECT_EQ(gpu("cudnnBackendExecute", Handle{}, plan, Handle{}), 0);
  }
  return found;
}

/// What the last engine has for a plan.
std::string plan_as_json(const Gpu& gpu) {
  const Handle plan = plan_of(gpu, engines_of(gpu).back());
  std::string json(static_cast<std::size_t>(get(gpu, plan, 405, 24, 0, nullptr)), '\0');
  get(gpu, plan, 405, 24, static_cast<std::int64_t>(json.size()), json.data());
  return json;
}

std::string told(const Gpu& gpu) {
  std::string text(4096, '\0');
  gpu("memreplay_gpu_told", text.data(), text.size());
  return text.c_str();
}

void with_the_library(const std::function<void(const Gpu&)>& test,
                      const std::string& settings = "") {
  const CudnnService service(MEMREPLAY_PROGRAM, kFolder);
  ASSERT_FALSE(service.name().empty());
  gpu::on_a_gpu("sm=9.0;cudnn=" + service.name() + settings, test);
}

/// What the program measures right after the last plan.
float milliseconds(const Gpu& gpu) {
  float measured = 0;
  EXPECT_EQ(gpu("cudaEventElapsedTime", &measured, Handle{}, Handle{}), 0);
  return measured;
}

TEST(CudnnService, GivesAProgramTheLibrarysOwnEngines) {
  with_the_library([](const Gpu& gpu) {
    EXPECT_EQ(workspaces(gpu), (std::vector<std::int64_t>{1000, 3000}));
    EXPECT_EQ(workspaces(gpu), (std::vector<std::int64_t>{1000, 3000}));
    EXPECT_NE(told(gpu).find(
                  R"("cudnn":{"version":"9.19.0","graphs":1,"unanswered":0,"why":"","timed":2,)"
                  R"("least_bytes":1000,"most_bytes":3000})"),
              std::string::npos)
        << told(gpu);
  });
}

TEST(CudnnService, WhoTimesEnginesKeepsTheFirstOrTheLeast) {
  with_the_library([](const Gpu& gpu) {
    workspaces(gpu);
    EXPECT_EQ(milliseconds(gpu), 1);
  });
  with_the_library(
      [](const Gpu& gpu) {
        EXPECT_EQ(milliseconds(gpu), 1);
        workspaces(gpu);
        EXPECT_GT(milliseconds(gpu), 3);  // the last of them wants 3,000 bytes
      },
      ";benchmark=least");
}

TEST(CudnnService, TellsAProgramThePlanOfAnEngine) {
  with_the_library([](const Gpu& gpu) { EXPECT_EQ(plan_as_json(gpu), R"({"engine":42})"); });
  gpu::on_a_gpu("sm=9.0", [](const Gpu& gpu) { EXPECT_EQ(plan_as_json(gpu), "{}"); });
}

TEST(CudnnService, GivesWhatCompilesADriver) {
  ::setenv("PRETENDED_CUDNN", "compiles", 1);
  with_the_library([](const Gpu& gpu) {
    EXPECT_EQ(workspaces(gpu), (std::vector<std::int64_t>{1001, 2001, 3001}));
  });
  ::unsetenv("PRETENDED_CUDNN");
}

TEST(CudnnService, OfWhatHasNoEngineTheModelAnswers) {
  ::setenv("PRETENDED_CUDNN", "has none", 1);
  with_the_library([](const Gpu& gpu) {
    EXPECT_EQ(workspaces(gpu), (std::vector<std::int64_t>{0}));
    EXPECT_NE(told(gpu).find("cuDNN 9.19.0 has no engine for it"), std::string::npos);
  });
  ::unsetenv("PRETENDED_CUDNN");
}

TEST(CudnnService, OutlivesALibraryThatEndsItsProcess) {
  ::setenv("PRETENDED_CUDNN", "ends", 1);
  with_the_library([](const Gpu& gpu) {
    EXPECT_EQ(workspaces(gpu), (std::vector<std::int64_t>{0}));  // the model's only engine
    EXPECT_NE(told(gpu).find("cuDNN ended the process that asked it"), std::string::npos);
  });
  ::unsetenv("PRETENDED_CUDNN");
}

TEST(CudnnService, WithoutItTheModelAnswers) {
  gpu::on_a_gpu("sm=9.0", [](const Gpu& gpu) {
    EXPECT_EQ(workspaces(gpu), (std::vector<std::int64_t>{0}));
    EXPECT_NE(told(gpu).find(R"("graphs":0,"unanswered":0)"), std::string::npos);
  });
}
#endif

}  // namespace
}  // namespace memreplay
