#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

using Messages = std::vector<OomMessage>;

bool is(const OomMessage& message, std::string_view kind) { return message.kind == kind; }

bool is_report(const OomMessage& message) { return is(message, "bfc") && !message.harmless; }

// What a table says beside a message of the moment.
void take_missing(const OomMessage& from, OomMessage& to) {
  for (const Figure peak : {Figure::live_peak, Figure::reserved_peak}) {
    if (!to[peak]) to[peak] = from[peak];
  }
  for (const Count count : {Count::ooms, Count::retries}) {
    if (!to[count]) to[count] = from[count];
  }
}

/// A sum of figures that are all there.
struct FigureSum {
  std::optional<RoundedBytes> all = RoundedBytes{};

  bool add(const std::optional<RoundedBytes>& figure) {
    all = sum_of(all, figure);
    return all.has_value();
  }
};

/// Takes out those of a kind that say more of other messages; each is tried once.
template <typename Add>
void absorb(Messages& messages, std::string_view kind, const Add& add) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (is(messages[i], kind) && add(messages[i])) continue;
    if (kept != i) messages[kept] = std::move(messages[i]);
    ++kept;
  }
  messages.resize(kept);
}

// The message is of the moment; the table, printed after it, says what else there was.
void absorb_tables(Messages& messages) {
  std::map<std::optional<std::uint64_t>, OomMessage> tables;
  for (const OomMessage& message : messages) {
    if (!is(message, "torch-summary")) continue;
    OomMessage& table = tables[message[Count::gpu]];
    take_missing(message, table);
  }
  std::set<std::optional<std::uint64_t>> used;
  for (OomMessage& message : messages) {
    const auto table = tables.find(message[Count::gpu]);
    if (!is(message, "torch") || table == tables.end()) continue;
    take_missing(table->second, message);
    used.insert(table->first);
  }
  absorb(messages, "torch-summary",
         [&](const OomMessage& table) { return used.contains(table[Count::gpu]); });
}

// The limit of an allocator, GPU_0_bfc, that TensorFlow gave it when it created its device.
void absorb_limits(Messages& messages) {
  const auto name_of = [](const OomMessage& device) {
    return "GPU_" + std::to_string(device[Count::gpu].value_or(0)) + "_bfc";
  };
  std::map<std::string, std::optional<RoundedBytes>> limits;  // "": of any
  for (const OomMessage& message : messages) {
    if (!is(message, "tf-device")) continue;
    limits.emplace(name_of(message), message[Figure::limit]);
    limits.emplace("", message[Figure::limit]);
  }
  std::set<std::string> used;
  for (OomMessage& message : messages) {
    const auto limit = limits.find(message[OomWord::allocator]);
    if (!is_report(message) || limit == limits.end()) continue;
    if (!message[Figure::limit]) message[Figure::limit] = limit->second;
    used.insert(limit->first);
  }
  absorb(messages, "tf-device", [&](const OomMessage& device) {
    return used.contains("") || used.contains(name_of(device));
  });
}

// What was asked for, where a report of the same allocator lacks it.
bool add_tensor(const OomMessage& tensor, std::span<OomMessage* const> reports) {
  constexpr Bytes kGranule = 256;
  for (OomMessage* const report : reports) {
    OomMessage& message = *report;
    const std::string& allocator = message[OomWord::allocator];
    if (!allocator.empty() && !tensor[OomWord::allocator].empty() &&
        allocator != tensor[OomWord::allocator]) {
      continue;
    }
    auto& requested = message[Figure::requested];
    if (!requested && tensor[Figure::requested]) {
      requested = {round_up(tensor[Figure::requested]->bytes, kGranule), 0};
      message[OomWord::shape] = tensor[OomWord::shape];
      message[OomWord::type] = tensor[OomWord::type];
    }
    if (requested) return true;
  }
  return false;
}

// A tensor on the host that no report of its allocator goes with.
void become_host(OomMessage& message) {
  message.kind = "host";
  message[OomWord::type].clear();
  message[OomWord::backend].clear();
  message[OomWord::allocator] = "TensorFlow's allocator of host memory";
}

void absorb_tensors(Messages& messages) {
  constexpr std::size_t kMostReports = 1000;  // each is looked at for each tensor
  std::vector<OomMessage*> reports;
  for (OomMessage& message : messages) {
    if (is_report(message) && reports.size() < kMostReports) reports.push_back(&message);
  }
  std::vector<bool> added(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    added[i] = is(messages[i], "tf-tensor") && add_tensor(messages[i], reports);
  }
  std::size_t at = 0;
  std::erase_if(messages, [&](const OomMessage&) { return added[at++]; });
}

// A state has memory that is freed but still in use by another stream. Beside an OOM message it has
// not: PyTorch waits for it before it refuses.
void note_pending(OomMessage& message) {
  const auto& active = message[Figure::active];
  const auto& live = message[Figure::live];
  if (is(message, "torch") || !message[Figure::reserved] || !live || !active) return;
  const bool pends = active->bytes > live->bytes + live->within + active->within;
  if (pends) message[Figure::pending] = difference_of(active, live);
  message[Figure::free_inside] = difference_of(message[Figure::reserved], pends ? active : live);
}

bool is_torch_state(const OomMessage& message) {
  return is(message, "torch-summary") || is(message, "torch-stats");
}

// A maximum below what there is now was rounded more.
void note_peaks(OomMessage& message) {
  constexpr std::pair<Figure, Figure> kPeaks[] = {{Figure::live, Figure::live_peak},
                                                  {Figure::active, Figure::active_peak},
                                                  {Figure::reserved, Figure::reserved_peak}};
  for (const auto& [now, most] : kPeaks) {
    const bool below = message[now] && message[most] && message[most]->bytes < message[now]->bytes;
    if (below) message[most] = message[now];
  }
  // cudaMallocAsync does not count what is requested.
  auto& requested = message[Figure::live_requested];
  const bool has_live = message[Figure::live] && message[Figure::live]->bytes > 0;
  if (is_torch_state(message) && requested && requested->bytes == 0 && has_live) requested.reset();
  // A peak of active memory says more only where it is above that of allocated memory.
  const auto& most = message[Figure::live_peak];
  auto& active = message[Figure::active_peak];
  if (active && (!most || active->bytes <= most->bytes + most->within)) active.reset();
}

// vLLM's own account: what its parts come to beyond its budget.
void note_over(OomMessage& message) {
  if (!is(message, "vllm") || !message[Figure::limit] || !message[Figure::graphs]) return;
  FigureSum sum;
  for (const Figure part :
       {Figure::weights, Figure::activations, Figure::outside, Figure::graphs, Figure::kv_cache}) {
    if (!sum.add(message[part])) return;
  }
  const auto over = difference_of(sum.all, message[Figure::limit]);
  if (over->bytes > over->within) message[Figure::over] = over;
}

// One of each that say the same, counted.
void count_equal(Messages& messages) {
  std::unordered_multimap<std::size_t, std::size_t> known;
  Messages kept;
  std::vector<std::uint64_t> times;
  for (OomMessage& message : messages) {
    std::size_t hash = std::hash<std::string>()(message.kind);
    for (const auto& figure : message.figures) {
      hash = hash * 1099511628211U + (figure ? figure->bytes + 1 : 0);
    }
    for (const auto& count : message.counts) hash = hash * 1099511628211U + count.value_or(~0U);
    const auto [first, last] = known.equal_range(hash);
    const auto same =
        std::find_if(first, last, [&](const auto& entry) { return kept[entry.second] == message; });
    if (same != last) {
      ++times[same->second];
    } else {
      known.emplace(hash, kept.size());
      kept.push_back(std::move(message));
      times.push_back(1);
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i].times = times[i];
  messages = std::move(kept);
}

}  // namespace

void put_together(std::vector<OomMessage>& messages) {
  for (OomMessage& message : messages) {
    note_pending(message);
    note_peaks(message);
    note_over(message);
  }
  absorb_tables(messages);
  if (std::ranges::any_of(messages, is_report)) {
    absorb_limits(messages);
    absorb_tensors(messages);
    // Its allocator's report says more.
    std::erase_if(messages, [](const OomMessage& one) {
      return is(one, "xla") && !one[Figure::needed] && !one[Figure::limit];
    });
  }
  for (OomMessage& message : messages) {
    if (is(message, "tf-tensor") && message[OomWord::backend] == kHostBackend) become_host(message);
  }
  count_equal(messages);
}

}  // namespace memreplay
