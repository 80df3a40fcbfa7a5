#include "core/error.hpp"
#include "run/what_if.hpp"

namespace memreplay {

void check_edit(const std::string&) { throw NotBuilt("--edit", "what_if"); }

MadeRecordings edited(const Subject&, std::span<const std::string>) {
  throw NotBuilt("--edit", "what_if");
}

MadeRecordings edited(const MadeRecordings&, std::span<const std::string>) {
  throw NotBuilt("--edit", "what_if");
}

std::vector<MadeRecordings> predicted_at(const std::deque<Recording>&, const Variation&,
                                         std::optional<int>) {
  throw NotBuilt("--vary", "what_if");
}

void check_selector(const std::string& option, const std::string&) {
  throw NotBuilt(option, "what_if");
}

SelectedBlocks selection_of(const Recording&, const Trace&, const std::string&) {
  throw NotBuilt("--select", "what_if");
}

}  // namespace memreplay
