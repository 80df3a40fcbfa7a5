#include "commands/fit.hpp"
#include "core/error.hpp"

namespace memreplay {

int find_value(const FitCommand&, const Inputs&, Printer&, Progress&) {
  throw NotBuilt("--find", "what_if");
}

}  // namespace memreplay
