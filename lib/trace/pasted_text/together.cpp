#include <algorithm>
#include <functional>
#include <iterator>
#include <unordered_map>

#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

using Messages = std::vector<OomMessage>;

bool is(const OomMessage& message, std::string_view kind) { return message.kind == kind; }

// The message is of the moment; the table, printed after it, says what else there was.
bool add_table(const OomMessage& table, Messages& messages) {
  bool added = false;
  for (OomMessage& message : messages) {
    if (!is(message, "torch") || message[Count::gpu] != table[Count::gpu]) continue;
    for (const Figure peak : {Figure::live_peak, Figure::reserved_peak}) {
      if (!message[peak]) message[peak] = table[peak];
    }
    for (const Count count : {Count::ooms, Count::retries}) {
      if (!message[count]) message[count] = table[count];
    }
    added = true;
  }
  return added;
}

// The limit of an allocator, GPU_0_bfc, that TensorFlow gave it when it created its device.
bool add_limit(const OomMessage& device, Messages& messages) {
  const std::string name = "GPU_" + std::to_string(device[Count::gpu].value_or(0)) + "_bfc";
  bool added = false;
  for (OomMessage& message : messages) {
    const std::string& allocator = message[OomWord::allocator];
    if (!is(message, "bfc") || (!allocator.empty() && allocator != name)) continue;
    if (!message[Figure::limit]) message[Figure::limit] = device[Figure::limit];
    added = true;
  }
  return added;
}

// What was asked for, where a report of the same allocator lacks it.
bool add_tensor(const OomMessage& tensor, Messages& messages) {
  constexpr Bytes kGranule = 256;
  for (OomMessage& message : messages) {
    const std::string& allocator = message[OomWord::allocator];
    if (!is(message, "bfc") || message.harmless) continue;
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

void absorb(Messages& messages, std::string_view kind, bool (*add)(const OomMessage&, Messages&)) {
  Messages parts;
  std::ranges::copy_if(messages, std::back_inserter(parts),
                       [&](const OomMessage& one) { return is(one, kind); });
  for (const OomMessage& part : parts) {
    if (add(part, messages)) std::erase(messages, part);
  }
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
  for (OomMessage& message : messages) note_pending(message);
  absorb(messages, "torch-summary", add_table);
  if (std::ranges::any_of(messages, [](const OomMessage& one) { return is(one, "bfc"); })) {
    absorb(messages, "tf-device", add_limit);
    absorb(messages, "tf-tensor", add_tensor);
    // Its allocator's report says more.
    std::erase_if(messages, [](const OomMessage& one) {
      return is(one, "xla") && !one[Figure::needed] && !one[Figure::limit];
    });
  }
  count_equal(messages);
}

}  // namespace memreplay
