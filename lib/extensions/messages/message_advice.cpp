#include <fmt/format.h>

#include <string_view>

#include "core/text.hpp"
#include "extensions/messages/message_facts.hpp"
#include "questions/explain/message_phrases.hpp"

namespace memreplay {
namespace {

using Message = ExplainedMessage;

// TensorFlow's allocators of host memory, each with a limit of its own.
std::string host_bfc_advice(const OomMessage& m) {
  const std::string& name = m[OomWord::allocator];
  const char* const limit =
      name == "mklcpu" ? "TF_MKL_ALLOC_MAX_BYTES (bytes; by default the machine's memory)"
      : name.find("host") != name.npos ? "TF_GPU_HOST_MEM_LIMIT_IN_MB"
                                       : "TF_CPU_BFC_MEM_LIMIT_IN_MB (MiB; by default 65536)";
  return fmt::format(
      "This allocator holds memory of the host (RAM), not of a GPU. Its limit is {}; else smaller "
      "batches or fewer tensors at once.",
      limit);
}

std::string bfc_advice(const Message& e) {
  const std::string& name = e.message[OomWord::allocator];
  const bool of_host = name.find("cpu") != name.npos || name.find("host") != name.npos;
  if (of_host) return host_bfc_advice(e.message);
  if (e.cause == Cause::fragmentation) {
    const std::string regions =
        e.message[Count::segments].value_or(0) > 1
            ? " Or preallocate, so that the pool is one region instead of several: "
              "TF_FORCE_GPU_ALLOW_GROWTH=false, XLA_PYTHON_CLIENT_PREALLOCATE=true."
            : "";
    return "TF_GPU_ALLOCATOR=cuda_malloc_async (TensorFlow) or "
           "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async (JAX) usually serves this request." +
           regions;
  }
  if (e.cause == Cause::shortage) {
    return head(e, "No", "no") +
           " allocator setting helps within this limit. If the device has more memory, raise it: "
           "XLA_PYTHON_CLIENT_MEM_FRACTION (JAX), a larger memory_limit (TensorFlow).";
  }
  return e.cause == Cause::outside ? "nvidia-smi lists the processes that hold the device." : "";
}

// Free memory that the allocator cannot use: what its release and its back end have against that.
std::string segments_advice(const OomMessage& m) {
  const std::string& backend = m[OomWord::backend];
  if (m.platform != Platform::unknown && (backend.empty() || backend == "CUDA")) {
    return fmt::format(
        "expandable_segments does not serve it here: {}. Set "
        "PYTORCH_CUDA_ALLOC_CONF=max_split_size_"
        "mb:512 or garbage_collection_threshold:0.8, or backend:cudaMallocAsync, or call "
        "torch.cuda.empty_cache() between phases.",
        m.platform == Platform::windows ? "PyTorch ignores it on Windows, with a warning"
        : m.platform == Platform::wsl   ? "the driver of WSL does not support it reliably"
                                        : "the driver of Jetson does not support it");
  }
  if (m.expandable_segments) {
    return "expandable_segments is on already: the free memory is in segments of other streams or "
           "pools, or beside live blocks. Call torch.cuda.empty_cache() between phases, or use "
           "fewer streams.";
  }
  if (m.until) {
    return fmt::format(
        "This message is from PyTorch {}.{} or older. 2.1 or newer serves the request with "
        "PYTORCH_{}_ALLOC_CONF=expandable_segments:True; in this one max_split_size_mb (from 1.9) "
        "or torch.cuda.empty_cache() may help.",
        m.until->major, m.until->minor, backend.empty() ? "CUDA" : backend);
  }
  if (backend == "XPU") {
    return "PYTORCH_ALLOC_CONF=expandable_segments:True usually serves this request from PyTorch "
           "2.10 on; before that call torch.xpu.empty_cache() when sizes change.";
  }
  if (backend == "HIP") {
    return "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True serves this request if this release "
           "has it for ROCm (else it warns); if not, PYTORCH_HIP_ALLOC_CONF=max_split_size_mb:512 "
           "may.";
  }
  const std::string variable = backend.empty() ? "CUDA" : backend;
  return fmt::format(
      "PYTORCH_{}_ALLOC_CONF=expandable_segments:True {}usually serves this request.", variable,
      m.since || variable == "NPU" ? "" : "(PyTorch 2.1 or newer) ");
}

std::string outside_advice(const Message& e) {
  if (e.holder && e.holder->held.bytes > e.own_outside.value_or(0)) {
    return fmt::format("End process {}, or use another device; no allocator setting will help.",
                       e.holder->id);
  }
  if (e.own_outside && *e.own_outside >= e.others.value_or(0) / 2) {
    return "This is its CUDA context, NCCL, CUDA graphs and libraries: use fewer communicators, "
           "graphs or workspaces. The text names no other process that holds memory.";
  }
  return "nvidia-smi lists the processes that hold the device.";
}

std::string torch_advice(const Message& e) {
  const OomMessage& m = e.message;
  switch (e.cause) {
    case Cause::fragmentation:
      if (others_hold_most(e)) {
        return "nvidia-smi lists the processes that hold the device: end them, or use another "
               "device. No allocator setting changes that.";
      }
      if (is_full(e)) {
        return "No setting helps for long: use a smaller batch or model, or free memory earlier.";
      }
      return segments_advice(m);
    case Cause::shortage:
      if (e.contradicts) {
        return "Raise what the GPU may have (the BIOS's carve-out or UMA size, GTT of the driver), "
               "or use less.";
      }
      if (m[Figure::largest_buffer])
        return "Split that tensor: use a smaller batch, or work in chunks.";
      if (!e.beyond_device) return head(e, "No", "no") + " allocator setting will help.";
      return "No allocator setting will help. Drivers of Windows and WSL move memory to the host "
             "when the device is full, which is slow; the NVIDIA control panel can forbid it (CUDA "
             "- Sysmem Fallback Policy).";
    case Cause::limit:
      return "Raise per_process_memory_fraction, or remove it.";
    case Cause::outside:
      return outside_advice(e);
    case Cause::address_space:
      return fmt::format(
          "Set expandable_segments_reserve (or expandable_segments_reserve_by_class) to {} or "
          "more, or "
          "leave it unset.",
          size_of(e, Figure::requested));
    default:
      return e.asleep
                 ? "Release the sleeping pool's memory before others take it, and wake it only "
                   "when the trainer has freed its own (vLLM's sleep and wake_up, SGLang's "
                   "release_memory_occupation, torch_memory_saver)."
                 : "";
  }
}

// Contexts that other ranks have on this device.
std::string contexts_advice(const Message& e) {
  if (!e.contexts) return "";
  return fmt::format(
      "{} processes hold about {} each on this device, {} in all, as contexts of other ranks do. "
      "{} ",
      human_count(e.contexts->count), human_size(e.contexts->each.bytes),
      human_size(e.contexts->all.bytes), kOwnCardEach);
}

std::string advice_of(const ExplainedMessage& e) {
  if (asks_for_nonsense(e)) {
    return "Look for a shape or a count that became negative or wrapped around, such as -1 as a "
           "length, "
           "or a product in 32 bits.";
  }
  if (e.row && e.row->per_report > 0) {
    return "What stays from step to step is held by the program: a loss or an output kept with its "
           "graph (use .item() or .detach()), a list or cache that grows.";
  }
  if (!is_judged(e)) return phrases_of(e.message).advice;
  const std::string advice = is_bfc(e) ? bfc_advice(e) : contexts_advice(e) + torch_advice(e);
  const bool holes = e.cause == Cause::fragmentation && !others_hold_most(e) && !is_full(e);
  if (!holes || !e.message[Figure::requested]) return advice;
  return fmt::format("{} In the program: free blocks before the {} request, or make it first.",
                     advice, size_of(e, Figure::requested));
}

}  // namespace

std::string message_advice(const ExplainedMessage& e) {
  const std::string& backend = e.message[OomWord::backend];
  const char* const tool = backend == "HIP"   ? "rocm-smi"
                           : backend == "NPU" ? "npu-smi info"
                           : backend == "XPU" ? "xpu-smi ps"
                                              : "nvidia-smi";
  return replaced(advice_of(e), "nvidia-smi", tool);
}

}  // namespace memreplay
