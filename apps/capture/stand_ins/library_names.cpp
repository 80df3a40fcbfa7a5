#include "stand_ins/library_names.hpp"

#include <algorithm>
#include <array>

namespace memreplay {
namespace {

struct Family {
  std::string_view prefix;  // begins the functions; what follows is no small letter
  std::string_view stem;
};

constexpr auto kFamilies = std::to_array<Family>({
    {"__cuda", "libcudart"},
    {"cu", "libcuda"},
    {"cuFile", "libcufile"},
    {"cublas", "libcublas"},
    {"cublasLt", "libcublasLt"},
    {"cuda", "libcudart"},
    {"cudnn", "libcudnn"},
    {"cudss", "libcudss"},
    {"cufft", "libcufft"},
    {"cupti", "libcupti"},
    {"curand", "libcurand"},
    {"cusolver", "libcusolver"},
    {"cusparse", "libcusparse"},
    {"cusparseLt", "libcusparseLt"},
    {"cutensor", "libcutensor"},
    {"nccl", "libnccl"},
    {"nvJitLink", "libnvJitLink"},
    {"nvjpeg", "libnvjpeg"},
    {"nvml", "libnvidia-ml"},
    {"nvrtc", "libnvrtc"},
    {"nvshmem", "libnvshmem_host"},
    {"nvshmemi", "libnvshmem_host"},
    {"nvshmemx", "libnvshmem_host"},
    {"nvtx", "libnvToolsExt"},
    {"pnccl", "libnccl"},
});

/// Their stems begin so and go on: libcudnn_ops, libnppig, libcusolverMg.
constexpr auto kFurtherStems = std::to_array<std::string_view>(
    {"libcudnn_", "libnpp", "libcusolverMg", "libcufftw", "libcufile_rdma", "libcutensorMg",
     "libnvfatbin", "libnvshmem_", "libnvvm"});

bool belongs_to(std::string_view function, std::string_view prefix) {
  if (!function.starts_with(prefix) || function.size() == prefix.size()) return false;
  const char next = function[prefix.size()];
  return next < 'a' || next > 'z';
}

bool is_hash(std::string_view text) {
  return text.size() == 8 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string_view stem_of(std::string_view soname) {
  std::string_view stem = soname.substr(0, soname.find(".so"));
  const std::size_t mark = stem.find_last_of("-.");
  if (mark != std::string_view::npos && is_hash(stem.substr(mark + 1))) stem = stem.substr(0, mark);
  return stem;
}

bool is_nvidia_library(std::string_view stem) {
  return std::ranges::find(kFamilies, stem, &Family::stem) != kFamilies.end() ||
         std::ranges::any_of(kFurtherStems,
                             [&](std::string_view begin) { return stem.starts_with(begin); });
}

std::optional<std::string_view> nvidia_library_of(std::string_view function) {
  const Family* longest = nullptr;
  for (const Family& family : kFamilies) {
    if (!belongs_to(function, family.prefix)) continue;
    if (longest == nullptr || family.prefix.size() > longest->prefix.size()) longest = &family;
  }
  if (longest == nullptr) return {};
  return longest->stem;
}

}  // namespace memreplay
