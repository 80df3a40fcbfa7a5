#include "program/libraries.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {
namespace {

/// A part of the name of a file or a function that tells who is called.
struct TellingName {
  std::string_view part;
  CardLibrary library;
};

constexpr std::array kFiles = {
    TellingName{"torch/nn/modules/linear.py", CardLibrary::cublas},
    TellingName{"torch/nn/modules/conv.py", CardLibrary::cudnn},
    TellingName{"torch/nn/modules/rnn.py", CardLibrary::cudnn},
    TellingName{"torch/nn/parallel/distributed.py", CardLibrary::nccl},
    TellingName{"torch/distributed/distributed_c10d.py", CardLibrary::nccl},
    TellingName{"torch/distributed/_functional_collectives.py", CardLibrary::nccl},
    TellingName{"torch/distributed/fsdp/", CardLibrary::nccl},
    TellingName{"torch/distributed/tensor/", CardLibrary::nccl},
    TellingName{"deepspeed/comm/", CardLibrary::nccl},
    TellingName{"pynccl", CardLibrary::nccl},
};

constexpr std::array kFunctions = {
    TellingName{"cublas", CardLibrary::cublas},
    TellingName{"CUDABlas", CardLibrary::cublas},
    TellingName{"at::cuda::blas::", CardLibrary::cublas},
    TellingName{"addmm", CardLibrary::cublas},
    TellingName{"cudnn", CardLibrary::cudnn},
    TellingName{"NCCL", CardLibrary::nccl},
};

/// Collectives, as PyTorch annotates them.
constexpr std::array<std::string_view, 7> kCollectives = {"all_gather",
                                                          "all_reduce",
                                                          "all_to_all",
                                                          "barrier",
                                                          "broadcast",
                                                          "reduce_scatter",
                                                          "DistributedDataParallel.forward"};

// PyTorch's workspaces for cuBLAS (getChosenWorkspaceSize): on Hopper and what followed it in
// servers, and elsewhere. As many tensors have the first size, it tells only where blocks of it are
// freed before anything else is asked for.
constexpr Bytes kLargeWorkspace = 8 * 4096 * kKiB;
constexpr Bytes kWorkspace = 2 * 4096 * kKiB + 8 * 16 * kKiB;
constexpr std::size_t kFewWorkspaces = 2;

/// One part in so many of what a program needs may be another on another card: the same ResNet has
/// 865 MiB live on a T4 and 886 on an A100.
constexpr Bytes kShareOfKernels = 32;

LoadedLibraries named_in(std::string_view text, std::span<const TellingName> names) {
  LoadedLibraries found;
  for (const TellingName& telling : names) {
    if (text.find(telling.part) != text.npos) found.add(telling.library);
  }
  return found;
}

bool is_collective(std::string_view scope) {
  if (scope.starts_with("nccl:")) return true;
  if (scope.starts_with("c10d::")) scope.remove_prefix(6);
  return std::ranges::any_of(kCollectives,
                             [&](std::string_view name) { return scope.starts_with(name); });
}

std::vector<LoadedLibraries> libraries_of_stacks(const Recording& recording) {
  std::vector<LoadedLibraries> of_frames;
  for (const Frame& frame : recording.frames) {
    LoadedLibraries& found = of_frames.emplace_back();
    std::string file = recording.texts[frame.file];
    std::ranges::replace(file, '\\', '/');
    found.add(named_in(file, kFiles));
    found.add(named_in(recording.texts[frame.name], kFunctions));
  }
  std::vector<LoadedLibraries> of_stacks;
  for (const auto& stack : recording.stacks) {
    LoadedLibraries& found = of_stacks.emplace_back();
    for (const std::uint32_t frame : stack) found.add(of_frames[frame]);
  }
  return of_stacks;
}

/// Blocks that one trace asks for.
class Workspaces {
 public:
  void play(Op op, Slot slot, Bytes size) {
    if (is_driver_event(op)) return;
    const bool gone = op == Op::free || op == Op::free_requested;
    large_ += gone && size == kLargeWorkspace && slot == latest_;
    found_ = found_ || (op == Op::allocate && size == kWorkspace);
    latest_ = op == Op::allocate ? slot : kNoSlot;
  }
  Bytes size() const {
    if (found_) return kWorkspace;
    return large_ >= kFewWorkspaces ? kLargeWorkspace : 0;
  }

 private:
  Slot latest_ = kNoSlot;
  std::size_t large_ = 0;
  bool found_ = false;
};

Bytes workspace_on(const Card& card) {
  const int generation = card.compute / 10;
  return generation == 9 || generation == 10 ? kLargeWorkspace : kWorkspace;
}

}  // namespace

void CardTraits::add(const CardTraits& others) {
  loaded.add(others.loaded);
  workspace = std::max(workspace, others.workspace);
}

CardTraits card_traits(const Recording& recording, const Trace& trace) {
  CardTraits traits;
  traits.loaded.add(CardLibrary::kernels);
  for (const Annotation& annotation : recording.annotations) {
    if (annotation.gpu != trace.gpu || !is_collective(recording.texts[annotation.text])) continue;
    traits.loaded.add(CardLibrary::nccl);
    break;
  }
  const std::vector<LoadedLibraries> of_stacks = libraries_of_stacks(recording);
  for (const std::uint32_t stack : trace.stacks) traits.loaded.add(of_stacks[stack]);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) traits.loaded.add(of_stacks[block.stack]);
  }
  Workspaces workspaces;
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    workspaces.play(trace.ops[i], trace.slots[i], trace.sizes[i]);
  }
  traits.workspace = workspaces.size();
  if (traits.workspace != 0) traits.loaded.add(CardLibrary::cublas);
  return traits;
}

SetAside set_aside_on(const Card& card, std::span<const CardTraits> processes) {
  SetAside aside{.card = card.name};
  for (const CardTraits& process : processes) {
    aside.context += kContext;
    aside.least += std::min(kContext, memory_of_threads(card));
    aside.most += std::max(kMeasuredContext, memory_of_threads(card));
    for (std::size_t i = 0; i < kLibraryUses.size(); ++i) {
      const bool used = process.loaded.used[i];
      if (used) aside.libraries += kLibraryUses[i].usual;
      // A product of matrices or a convolution may not show, but ranks do.
      if (used || static_cast<CardLibrary>(i) != CardLibrary::nccl) {
        aside.most += kLibraryUses[i].most;
      }
    }
    aside.loaded.add(process.loaded);
    ++aside.processes;
    if (process.workspace != 0 && process.workspace != workspace_on(card)) {
      aside.kernels = KernelsThere::differ;
    } else if (process.loaded.has(CardLibrary::cudnn)) {
      aside.kernels = std::max(aside.kernels, KernelsThere::may_differ);
    }
  }
  return aside;
}

SetAside bounds_of_both(SetAside one, const SetAside& other) {
  one.least = std::min(one.least, other.least);
  one.most = std::max(one.most, other.most);
  one.kernels = std::max(one.kernels, other.kernels);
  return one;
}

std::optional<SetAside> set_aside_beside(Bytes usable, const CardTraits& process) {
  for (const Card& card : cards()) {
    SetAside aside = set_aside_on(card, std::span(&process, 1));
    if (card.total != usable + aside.bytes()) continue;
    aside.least = aside.most = aside.bytes();
    return aside;
  }
  return std::nullopt;
}

BytesInterval usable_on(const Card& card, const SetAside& aside) {
  const auto left = [&](Bytes taken) {
    const Bytes all = taken + aside.others;
    return card.total - std::min(card.total, all);
  };
  BytesInterval usable{left(aside.most), left(aside.least)};
  if (aside.kernels == KernelsThere::alike) return usable;
  return {usable.low - usable.low / kShareOfKernels, usable.high + usable.high / kShareOfKernels};
}

}  // namespace memreplay
