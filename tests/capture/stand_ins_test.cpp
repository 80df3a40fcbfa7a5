#include "stand_ins/stand_ins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "capture/loaded.hpp"
#include "capture/temporary_folder.hpp"
#include "core/error.hpp"
#include "folders/cache.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

const fs::path kTorch = MEMREPLAY_PRETENDED_TORCH;

const NeededLibrary* library(const TorchNeeds& needs, std::string_view soname) {
  const auto found = std::ranges::find(needs.libraries, soname, &NeededLibrary::soname);
  return found == needs.libraries.end() ? nullptr : &*found;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST(LibraryNames, HaveAStemWithOrWithoutThePackagersHash) {
  EXPECT_EQ(stem_of("libcudart.so.13"), "libcudart");
  EXPECT_EQ(stem_of("libcudart-d0da41ae.so.11.0"), "libcudart");
  EXPECT_EQ(stem_of("libcudart.e8e8b82a.so.12"), "libcudart");
  EXPECT_EQ(stem_of("libnvidia-ml.so.1"), "libnvidia-ml");
}

TEST(LibraryNames, AreThoseOfTheFamilyOfAFunction) {
  EXPECT_EQ(nvidia_library_of("cuMemCreate"), "libcuda");
  EXPECT_EQ(nvidia_library_of("cuFileRead"), "libcufile");
  EXPECT_EQ(nvidia_library_of("cudaMalloc"), "libcudart");
  EXPECT_EQ(nvidia_library_of("__cudaRegisterVar"), "libcudart");
  EXPECT_EQ(nvidia_library_of("cublasCreate_v2"), "libcublas");
  EXPECT_EQ(nvidia_library_of("cublasLtCreate"), "libcublasLt");
  EXPECT_EQ(nvidia_library_of("pncclSend"), "libnccl");
  EXPECT_EQ(nvidia_library_of("nvshmem_malloc"), "libnvshmem_host");
  EXPECT_EQ(nvidia_library_of("cudnn"), std::nullopt);
  EXPECT_EQ(nvidia_library_of("custom"), std::nullopt);
}

TEST(TorchNeeds, AreTheFunctionsThatNoOtherLibraryOfItHas) {
  const TorchNeeds needs = torch_needs(kTorch);
  EXPECT_EQ(needs.cuda_major, 13);
  ASSERT_EQ(needs.libraries.size(), 4);
  const std::string version = "libcudart.so.13";
  EXPECT_EQ(library(needs, version)->versions, std::vector{version});
  EXPECT_EQ(library(needs, version)->functions,
            (std::vector<VersionedSymbol>{{"cudaFree", version}, {"cudaMalloc", version}}));
  EXPECT_EQ(library(needs, "libnccl.so.2")->functions,
            (std::vector<VersionedSymbol>{{"ncclAllReduce", ""}}));
  EXPECT_TRUE(library(needs, "libcuda.so.1")->functions.empty());
  EXPECT_TRUE(library(needs, "libnvidia-ml.so.1")->functions.empty());
}

TEST(TorchNeeds, CoverTheOtherPackagesThatNeedCuda) {
  const TemporaryFolder folder;
  const fs::path packages = folder.path() / "site-packages";
  fs::create_directories(packages);
  fs::copy(kTorch, packages / "torch", fs::copy_options::recursive);
  const auto write = [&](const std::string& name, const SharedObject& object) {
    folder.write("site-packages/" + name, written(object));
  };
  write("engine/_C.abi3.so", {"", {"libnvjpeg.so.13", "libc10_cuda.so"}, {}, {}});
  write("engine/plain.so", {"", {"libnvstrange.so.1"}, {}, {}});
  write("nvidia/cuda_runtime/lib/helper.so", {"", {"libnvrtc.so.13"}, {}, {}});
  folder.write("site-packages/engine/for_another_system.so", "no ELF");
  const TorchNeeds needs = torch_needs(packages / "torch");
  EXPECT_NE(library(needs, "libnvjpeg.so.13"), nullptr);
  EXPECT_EQ(library(needs, "libnvrtc.so.13"), nullptr);
  ASSERT_EQ(needs.callers.size(), 3);
  EXPECT_EQ(needs.callers[1].name, "torch/lib/libtorch_cuda.so");
  EXPECT_EQ(needs.callers[1].functions, std::vector<std::string>{"ncclAllReduce"});
  EXPECT_TRUE(needs.callers[1].is_torchs);
  EXPECT_EQ(needs.callers[2].name, "engine/_C.abi3.so");
  EXPECT_FALSE(needs.callers[2].is_torchs);
}

TEST(TorchNeeds, CoverWhatThePackageBringsAlongFromNvidia) {
  const TemporaryFolder torch;
  const std::string runtime = "libcudart-d0da41ae.so.11.0";
  torch.write("lib/libtorch_cuda.so", written({"libtorch_cuda.so", {runtime}, {}, {}}));
  torch.write("lib/" + runtime, "not even read");
  const TorchNeeds needs = torch_needs(torch.path());
  EXPECT_EQ(needs.cuda_major, 11);
  EXPECT_NE(library(needs, runtime), nullptr);
  EXPECT_EQ(needs.read.size(), 1);
}

TEST(TorchNeeds, OfATorchWithoutCudaAreAnErrorThatSaysWhatToInstall) {
  const TemporaryFolder torch;
  torch.write("lib/libtorch_cpu.so", written({.soname = "libtorch_cpu.so"}));
  try {
    torch_needs(torch.path());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(error.message().starts_with("is a torch without CUDA")) << error.what();
    EXPECT_NE(error.message().find("pip install torch"), std::string::npos);
  }
}

TEST(StandIns, LetATorchRunThatMissesItsLibraries) {
  const TemporaryFolder folder;
  const Loaded gpu(folder.write(
      "gpu.so", written({.soname = "libmemreplay_gpu.so", .functions = {{"cudaMalloc", ""}}})));
  const Implementation implementation{.functions = {"cudaMalloc"}};
  const Cache cache({folder.path() / "cache"});
  const fs::path ours = write_stand_ins(torch_needs(kTorch), cache, implementation);
  const Loaded runtime(ours / "libcudart.so.13");
  const Loaded nccl(ours / "libnccl.so.2");
  const Loaded torch(kTorch / "lib/libtorch_cuda.so");
  EXPECT_EQ(torch.call("train"), 115);
  EXPECT_EQ(gpu.calls(), (std::map<std::string, std::uint64_t>{{"cudaMalloc", 1}}));
  EXPECT_EQ(runtime.calls(), (std::map<std::string, std::uint64_t>{{"cudaFree", 1}}));
  EXPECT_EQ(nccl.calls(), (std::map<std::string, std::uint64_t>{{"ncclAllReduce", 1}}));
  EXPECT_EQ(runtime.find("cudaMalloc"), gpu.find("cudaMalloc"));
}

TEST(StandIns, AreAFileForEachLibrary) {
  const TemporaryFolder folder;
  const Cache cache({folder.path() / "cache"});
  EXPECT_EQ(names_in(write_stand_ins(torch_needs(kTorch), cache, {})),
            (std::vector<std::string>{"libcuda.so.1", "libcudart.so.13", "libnccl.so.2",
                                      "libnvidia-ml.so.1"}));
}

TEST(StandIns, AreKeptUnderANameOfAllThatMakesThem) {
  const TemporaryFolder torch;
  const SharedObject cuda{"libtorch_cuda.so", {"libcudart.so.13"}, {}, {}};
  const fs::path path = torch.write("lib/libtorch_cuda.so", written(cuda));
  const std::string name = cache_folder_name(torch_needs(torch.path()), {});
  EXPECT_TRUE(name.starts_with("cuda13-")) << name;
  EXPECT_EQ(cache_folder_name(torch_needs(torch.path()), {}), name);
  EXPECT_NE(cache_folder_name(torch_needs(torch.path()), {.functions = {"cudaMalloc"}}), name);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_NE(cache_folder_name(torch_needs(torch.path()), {}), name);
}

}  // namespace
}  // namespace memreplay
