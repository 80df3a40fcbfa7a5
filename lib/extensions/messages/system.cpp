#include <algorithm>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

// A region that the driver refuses is asked for again, a tenth smaller each time.
bool join_attempts(OomMessage& before, const OomMessage& after) {
  const auto& last =
      before[before[Figure::last_attempt] ? Figure::last_attempt : Figure::requested];
  const auto& next = after[Figure::requested];
  if (!last || !next || next->bytes > last->bytes || before[Count::rank] != after[Count::rank])
    return false;
  if (next->bytes < last->bytes) before[Figure::last_attempt] = next;
  before[Count::retries] = before[Count::retries].value_or(0) + 1;
  return true;
}

void complete_error(OomMessage& message, const MessageSpan& span) {
  struct Library {
    Pattern sign;
    const char* name;
  };
  static const Library kLibraries[] = {{"CUBLAS", "cuBLAS"},
                                       {"CUDNN", "cuDNN"},
                                       {"cuMemAlloc", "cuMemAlloc"},
                                       {"parallel_for", "Thrust"},
                                       {"Cuda failure", "NCCL"}};
  for (const Library& library : kLibraries) {
    if (message[OomWord::call].empty() && span.says(library.sign))
      message[OomWord::call] = library.name;
  }
  message.harmless = message[OomWord::type] == "retried";
  static const Pattern kStorage = "THCStorage";
  if (span.says(kStorage)) {
    message[OomWord::type] = "tensor";
    message.detail = "an error of PyTorch's allocator before 1.0";
  }
  static const Pattern kHip = "HIP";
  static const Pattern kHipError = "hipError";
  static const Pattern kXpu = "UR_RESULT";
  static const Pattern kVulkan[] = {"VK_ERROR", "ErrorOutOfDeviceMemory"};
  message[OomWord::backend] =
      std::ranges::any_of(kVulkan, [&](const Pattern& p) { return span.says(p); }) ? "Vulkan"
      : span.says(kHip) || span.says(kHipError)                                    ? "HIP"
      : span.says(kXpu)                                                            ? "XPU"
                                                                                   : "CUDA";
}

void complete_host(OomMessage& message, const MessageSpan& span) {
  static const Pattern kTorch = "CPUAllocator";
  static const Pattern kNumpy = "for an array";
  static const Pattern kPinned = "pinned";
  static const Pattern kKernel = "Out of memory: Kill";
  if (span.says(kTorch)) message[OomWord::allocator] = "PyTorch's allocator of host memory";
  if (span.says(kNumpy)) message[OomWord::allocator] = "NumPy";
  if (span.says(kPinned)) message[OomWord::type] = "pinned";
  if (span.says(kKernel)) message[OomWord::type] = "killed";
}

// Words that count as a whole line alone, "Killed", or as a shell's line about its job.
std::string_view type_of_line(std::string_view line) {
  while (line.ends_with(kApart)) line.remove_suffix(1);
  for (const std::string_view killed : {"Killed", "killed", "Killed:9", "Killed(9)"}) {
    if (line == killed) return "exit";
  }
  if (line == "MemoryError" || line == "MemoryError:") return "python";
  if (line == "Buserror" || line == "Buserror(coredumped)" || line == "zsh:buserror") return "bus";
  if (line.starts_with("zsh:killed")) return "exit";
  // "run.sh: line 12:  4711 Killed   python train.py", "[1]+  Killed   python", "[2]  4711 killed"
  const std::size_t at = std::min(line.find("Killed"), line.find("killed"));
  if (at == line.npos || at == 0) return "";
  const std::string_view before = line.substr(0, at);
  const std::size_t number = before.find_last_not_of("0123456789") + 1;
  const bool has_number = number < before.size();
  constexpr std::size_t kDigitsOfProcess = 4;
  const bool is_job =
      before == "+" || before == "-" || (number == 0 && before.size() >= kDigitsOfProcess);
  const bool is_shell = has_number && before.find(":line") != before.npos;
  return is_job || is_shell ? "exit" : "";
}

void read_lines(const PackedText& text, std::vector<FoundMessage>& found) {
  for (std::size_t i = 0; i < text.lines.size(); ++i) {
    const PackedLine& line = text.lines[i];
    const std::size_t end = i + 1 < text.lines.size() ? text.lines[i + 1].at : text.text.size();
    const std::string_view type =
        type_of_line(std::string_view(text.text).substr(line.at, end - line.at));
    if (type.empty()) continue;
    OomMessage message;
    message.kind = "host";
    message.detail = "a line about a process";
    message[OomWord::type] = type;
    message[Count::rank] = line.rank;
    found.push_back({std::move(message), line.number});
  }
}

}  // namespace

// A process's end, in a line of its shell or of Python.
MessageKind host_line_message() {
  return {.name = "host",
          .detail = "a line about a process",
          .starts = {"Killed", "killed", "MemoryError", "Bus error", "bus error"},
          .is_bare = true,
          .read = read_lines};
}

// TensorFlow's and XLA's cuda_driver.cc, cuda_executor.cc and rocm_driver.cc: "7.62G (8183459840
// bytes)" in 1.x, "3.25GiB (…)" since.
MessageKind gpu_driver_message() {
  return {.name = "gpu-driver",
          .detail = "a line of TensorFlow's or JAX's driver",
          .starts = {"failed to allocate {size} ({requested}) from device",
                     "failed to allocate {requested} from device",
                     "failed to alloc {requested} unified memory"},
          .join = join_attempts};
}

// The runtime's own errors, without figures: torch/csrc and c10/cuda/CUDAException.cpp, THC before
// 1.0, NCCL, ONNX Runtime, Numba and PyCUDA, and what libraries return.
MessageKind gpu_error_message() {
  return {.name = "gpu-error",
          .detail = "an error of the GPU's runtime",
          .starts = {"CUDA error: out of memory",
                     "HIP error: out of memory",
                     "CUDA out of memory",
                     "HIP out of memory",
                     "cuda runtime error (2) : out of memory",
                     "cuda runtime err (2) : out of memory",
                     "error=2 : out of memory",
                     "CUDA failure 2: out of memory",
                     "Cuda failure 'out of memory'",
                     "Cuda failure 2 'out of memory'",
                     "CUDA_ERROR_OUT_OF_MEMORY",
                     "cudaErrorMemoryAllocation",
                     "hipErrorOutOfMemory",
                     "CUBLAS_STATUS_ALLOC_FAILED",
                     "CUDNN_STATUS_ALLOC_FAILED",
                     "cuMemAlloc failed: out of memory",
                     "parallel_for failed: out of memory",
                     "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
                     "CUDA error 2 at",
                     "CUDA error 2: out of memory",
                     "CUDA error 2 out of memory",
                     "CUDA Error: out of memory",
                     "CUDA error: Out of memory in",
                     "CUDA error ({*}): out of memory",
                     "cudaMalloc failed: out of memory",
                     "cudaMallocAsync failed: out of memory",
                     "hipMalloc failed: out of memory",
                     "cuMemCreate failed: out of memory",
                     "code: 2, reason: out of memory",
                     "VK_ERROR_OUT_OF_DEVICE_MEMORY",
                     "ErrorOutOfDeviceMemory",
                     "Cuda Error in allocate: 2 (out of memory)",
                     "Error Code 2: OutOfMemory",
                     "UR_RESULT_ERROR_OUT_OF_RESOURCES"},
          .complete = complete_error,
          .join =
              [](OomMessage& before, const OomMessage& after) {
                return before[OomWord::call] == after[OomWord::call] ||
                       after[OomWord::call].empty();
              },
          .is_bare = true};
}

// Memory of the host. PyTorch: c10/core/impl/alloc_cpu.cpp, c10/core/CPUAllocator.cpp up to 1.8,
// TH/THGeneral.cpp before; NumPy: numpy/core/_exceptions.py since 1.17; TensorFlow: gpu_driver and
// gpu_host_allocator; ggml: ggml.c and ggml-cuda.cu (pinned memory); the kernel's OOM killer.
MessageKind host_message() {
  return {.name = "host",
          .detail = "the message of an allocator of host memory",
          .starts = {"DefaultCPUAllocator: can't allocate memory",
                     "DefaultCPUAllocator: not enough memory",
                     "Torch: not enough memory: you tried to allocate",
                     "you tried to allocate {requested}",
                     "Unable to allocate {requested} for an array with shape{shape}and data type",
                     "Unable to allocate {requested} for an array",
                     "failed to alloc {requested} on host",
                     "could not allocate pinned host memory of size: {requested:B}",
                     "failed to allocate {requested} of pinned memory",
                     "insufficient memory (attempted to allocate {requested})",
                     "model requires more system memory ({requested}) than is available",
                     "unable to mmap {requested:B} bytes from file",
                     "memory allocation of {requested:B} bytes failed",
                     "Failed to allocate {requested:B} bytes in function",
                     "Out of memory: Killed process", "Out of memory: Kill process"},
          .fields = {"anon-rss:{process}", "was running was {live} / {limit} ("},
          .complete = complete_host,
          .join = add_missing};
}

}  // namespace memreplay
