#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/units.hpp"

/// Cards, and what takes their memory beside the allocators of programs.
namespace memreplay {

struct Card {
  std::string_view name;
  Bytes total = 0;  ///< what the driver reports (cudaMemGetInfo)
  int compute = 0;  ///< capability, ten times: 90 is 9.0
  int multiprocessors = 0;
  Bytes windows_total = 0;  ///< under Windows and WSL; 0: not known
};

/// Every card that is known, by total, the smallest first.
std::span<const Card> cards();

/// What takes memory of a card at its first use: code and buffers.
enum class CardLibrary : std::uint8_t { kernels, cublas, cudnn, nccl };

/// What one of them takes for a process: usually, as a virtual card has it, and at most.
struct LibraryUse {
  std::string_view name;
  Bytes usual = 0;
  Bytes most = 0;
};

/// By CardLibrary, as measured on an H100 and an H200 (CUDA 13.0, driver 580). cuBLAS takes 64 MiB
/// more for the thread of a backward pass. NCCL was measured with one rank; twice that stands for
/// many.
inline constexpr std::array<LibraryUse, 4> kLibraryUses = {{{"kernels", 92 * kMiB, 92 * kMiB},
                                                            {"cuBLAS", 66 * kMiB, 130 * kMiB},
                                                            {"cuDNN", 16 * kMiB, 16 * kMiB},
                                                            {"NCCL", 496 * kMiB, 992 * kMiB}}};

constexpr const LibraryUse& use_of(CardLibrary library) {
  return kLibraryUses[static_cast<std::size_t>(library)];
}

/// What the context of a process takes before its first kernel, assumed for any card, and as
/// measured on an H100.
inline constexpr Bytes kContext = 500 * kMiB;
inline constexpr Bytes kMeasuredContext = 527 * kMiB;

/// What gives each rank a card of its own.
inline constexpr std::string_view kOwnCardEach =
    "Call torch.cuda.set_device(local_rank) before anything else of CUDA, load with map_location, "
    "or set CUDA_VISIBLE_DEVICES for each rank.";

/// The local memory of all threads that a card runs at once, 2 KiB each: most of what a context
/// takes. PyTorch's messages from ten kinds of card tell of no program that had less outside of its
/// allocator, from 141 MiB on a T4 to 512 MiB on an H100.
constexpr Bytes memory_of_threads(const Card& card) {
  const bool half = card.compute / 10 == 8 && card.compute > 80;  // Ampere's and Ada's smaller ones
  const Bytes threads = card.compute == 75 ? 1024 : half || card.compute >= 120 ? 1536 : 2048;
  return static_cast<Bytes>(card.multiprocessors) * threads * 2 * kKiB;
}

/// Those that a program used, by CardLibrary.
struct LoadedLibraries {
  std::array<bool, kLibraryUses.size()> used = {};

  constexpr bool has(CardLibrary library) const { return used[static_cast<std::size_t>(library)]; }
  constexpr void add(CardLibrary library) { used[static_cast<std::size_t>(library)] = true; }
  constexpr void add(const LoadedLibraries& others) {
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = used[i] || others.used[i];
  }

  friend constexpr bool operator==(const LoadedLibraries&, const LoadedLibraries&) = default;
};

/// How the kernels of a program on a card compare with those that were recorded.
enum class KernelsThere : std::uint8_t {
  alike,       ///< nothing is seen of them that depends on the card
  may_differ,  ///< convolutions, whose workspaces do, and nobody says on which card they ran
  differ,      ///< it was another kind of card
};

/// About what a context and the libraries in it take where nothing tells which: all but most of
/// NCCL's.
inline constexpr Bytes kContextAndLibraries = kGiB;

/// What of a device's memory is not for the allocator of a program, by who has it.
struct SetAside {
  Bytes context = 0;
  Bytes libraries = 0;
  Bytes others = 0;
  Bytes least = 0;  ///< that context and libraries come to, on one card or another
  Bytes most = 0;
  LoadedLibraries loaded = {};
  std::size_t processes = 0;  ///< each with a context and libraries of its own
  KernelsThere kernels = KernelsThere::alike;
  std::string_view card = {};  ///< the one that it belongs to

  constexpr Bytes bytes() const { return context + libraries + others; }
};

}  // namespace memreplay
