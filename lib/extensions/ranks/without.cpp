#include "line/printing.hpp"

namespace memreplay {

void print_ranks(const Printer&, const InputOptions&, const std::vector<StrategySpec>&,
                 const Setup&, Progress&, Colour, RanksStand) {}

}  // namespace memreplay
