#include "core/error.hpp"
#include "questions/convert/minimised.hpp"

namespace memreplay {

MinimisedRecording minimised(const Recording&, const Trace&, const StrategySpec&, const Setup&,
                             const MinimiseQuestion&, const Control&) {
  throw NotBuilt("--minimise", "minimise");
}

std::string to_text(const MinimiseAnswer&, const std::string&, const TextStyle&) { return {}; }

}  // namespace memreplay
