#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/explain/phrases.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

bool has(const std::string& conf, std::string_view option) {
  return conf.find(option) != std::string::npos;
}

class Findings {
 public:
  explicit Findings(const ExplainedDevice& device) : device_(device), e_(device.explanation) {}

  std::vector<Finding> all() {
    // Where more is live than there is, no use of the rest makes up for it.
    if (e_.cause != Cause::shortage) {
      pinned();
      kept_whole();
      rounding();
    }
    // Before a request is refused, all that can be returned was.
    if (!e_.at_oom) returnable();
    addresses();
    private_pools();
    pending();
    limit();
    others();
    std::ranges::stable_sort(found_, std::greater{}, &Finding::bytes);
    return std::move(found_);
  }

 private:
  void add(std::string what, Bytes bytes, std::string remedy) {
    if (bytes > 0) found_.push_back({std::move(what), bytes, std::move(remedy)});
  }

  void pinned() {
    if (e_.pins.by_place.empty()) return;
    const Pin& first = *std::ranges::max_element(e_.pins.by_place, {}, &Pin::pinned);
    // Whether a setting helps is for the search to say.
    const std::string remedy =
        first.place == kWaiting ? "to synchronise, or free, where record_stream is called"
        : first.place == kFromBefore
            ? "to record from the program's start, which shows whose blocks these are"
        : first.place == kNoStack || first.place == kNoTag
            ? "to record with stacks, which shows whose blocks these are"
            : fmt::format("to give back sooner, or allocate before all else, what {} holds",
                          first.place);
    add(fmt::format("{} free inside segments, kept there by live blocks beside it",
                    human_size(e_.pins.pinned)),
        e_.pins.pinned, remedy);
  }

  void kept_whole() {
    add(fmt::format(
            "{} free in blocks of max_split_size_mb or more, which smaller requests may not "
            "take",
            human_size(e_.kept_whole)),
        e_.kept_whole,
        has(device_.conf, "expandable_segments:True")
            ? "to drop max_split_size_mb: with expandable_segments:True it only keeps memory back"
            : "a larger max_split_size_mb, or none");
  }

  void private_pools() {
    Bytes free = 0;
    for (const PoolRow& row : e_.pools) {
      if (row.pool != 0 && row.pool != e_.pool) free += row.free;
    }
    add(fmt::format("{} free in private pools, which other requests cannot use", human_size(free)),
        free, "to share one pool between the captures, or let go of graphs and MemPools when done");
  }

  void pending() {
    add(fmt::format("{} freed, but waiting for another stream", human_size(e_.pending)), e_.pending,
        "to synchronise or free where record_stream is called, so that the blocks come back "
        "sooner");
  }

  void rounding() {
    Bytes lost = 0;
    for (const SizeClassLoss& loss : e_.rounding) lost += loss.lost();
    if (lost == 0) return;
    const SizeClassLoss& most = e_.rounding.front();
    const bool rounds = has(device_.conf, "roundup_power2_divisions");
    add(fmt::format("{} lost by rounding, most of it ({}) in {} of {} to {}", human_size(lost),
                    human_size(most.lost()), counted(most.blocks, "block"), human_size(most.from),
                    human_size(2 * most.from)),
        lost, rounds ? "more roundup_power2_divisions, or none" : "");
  }

  void returnable() {
    add(fmt::format("{} free in whole segments, which could be returned",
                    human_size(e_.pins.returnable)),
        e_.pins.returnable, "torch.cuda.empty_cache() returns it; the next peak takes it again");
  }

  // Before they are exhausted, too: a driver refuses without a word of them.
  void addresses() {
    if (!e_.addresses) return;
    const AddressUse& use = *e_.addresses;
    const bool exhausted = e_.cause == Cause::address_space;
    if (!exhausted && use.reserved < use.limit / 2) return;
    const std::string remedy =
        use.too_short ? "a larger expandable_segments_reserve, or none"
                      : "fewer streams and pools, expandable_segments:False, or from PyTorch 2.15 "
                        "on expandable_segments_reserve (0.25 is a quarter of the device)";
    add(fmt::format("{} of addresses{} reserved by expandable segments, 9/8 of the device by each "
                    "({} of {})",
                    human_size(use.reserved), use.at_least ? " or more" : "",
                    counted(use.reservations, "reservation"), counted(use.streams, "stream")),
        std::max(use.reserved, Bytes{1}), remedy);
  }

  void limit() {
    if (!e_.at_oom || e_.allowed >= e_.device_free) return;
    add(fmt::format("{} free on the device, which a memory limit forbids",
                    human_size(e_.device_free - e_.allowed)),
        e_.device_free - e_.allowed,
        "a larger per_process_memory_fraction, or set_per_process_memory_fraction, or none");
  }

  void others() {
    if (!e_.total || !e_.room || *e_.total <= *e_.room) return;
    add(fmt::format("{} of the device held by others (contexts, other processes, libraries)",
                    human_size(*e_.total - *e_.room)),
        *e_.total - *e_.room, "nvidia-smi lists the processes");
  }

  const ExplainedDevice& device_;
  const Explanation& e_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> findings(const ExplainedDevice& device) {
  // What would have helped a program that nobody saw ask for anything is not known.
  if (!device.messages.empty() || !device.explanation.shows_requests) return {};
  return Findings(device).all();
}

}  // namespace memreplay
