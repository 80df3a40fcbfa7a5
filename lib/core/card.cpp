#include "core/card.hpp"

namespace memreplay {
namespace {

// Totals in MiB, as CUDA programs under Linux printed them in public logs: the lowest value that
// two independent logs show within 0.2 % of each other. Drivers differ by more than that: the
// newest may keep up to 2 % for themselves. nvidia-smi shows more than programs get. Compute
// capability and multiprocessors are those of NVIDIA's data sheets.
constexpr std::array kCards = {
    Card{"RTX-3080-10GB", 10002 * kMiB, 86, 68},
    Card{"RTX-2080-Ti", 11009 * kMiB, 75, 68},
    Card{"RTX-3060-12GB", 12036 * kMiB, 86, 28},
    Card{"T4", 14912 * kMiB, 75, 40},
    Card{"V100-16GB", 16130 * kMiB, 70, 80},
    Card{"P100-16GB", 16280 * kMiB, 60, 56},
    Card{"L4", 22563 * kMiB, 89, 58},
    Card{"A10G", 22589 * kMiB, 86, 80},
    Card{"A10", 22712 * kMiB, 86, 72},
    Card{"RTX-A5000", 24114 * kMiB, 86, 64},
    Card{"RTX-3090", 24124 * kMiB, 86, 82},
    Card{"RTX-4090", 24209 * kMiB, 89, 128, 24563 * kMiB},
    Card{"RTX-5090", 32102 * kMiB, 120, 170},
    Card{"V100-32GB", 32494 * kMiB, 70, 80},
    Card{"A100-40GB", 40441 * kMiB, 80, 108},
    Card{"A40", 45416 * kMiB, 86, 84},
    Card{"L40S", 45495 * kMiB, 89, 142},
    Card{"RTX-A6000", 48676 * kMiB, 86, 84},
    Card{"H100-80GB", 81079 * kMiB, 90, 132},
    Card{"A100-80GB", 81153 * kMiB, 80, 108},
    Card{"H20", 97285 * kMiB, 90, 78},
    Card{"H200", 143156 * kMiB, 90, 132},
    Card{"B200", 182631 * kMiB, 100, 148},
};

}  // namespace

std::span<const Card> cards() { return kCards; }

}  // namespace memreplay
