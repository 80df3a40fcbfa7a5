#include "record/virtual_card.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"
#include "core/text.hpp"
#include "gpu/shared_cards.hpp"
#include "questions/fit/fit.hpp"

namespace memreplay {
namespace {

constexpr Bytes kLargestMemory = 3 * kTiB;  // each of 16 devices has 4 TiB of addresses

[[noreturn]] void refuse(const std::string& key, const std::string& value, const char* expected) {
  throw UsageError(fmt::format("--virtual-gpu has {}={}; expected {}", key, value, expected));
}

Bytes memory_of(const std::string& key, const std::string& value) {
  const auto size = parse_size(value);
  if (!size || *size > kLargestMemory || (*size == 0 && key == "memory"))
    refuse(key, value, "a size up to 3TiB, such as 24GiB");
  return *size;
}

std::uint64_t whole_of(const std::string& key, const std::string& value, std::uint64_t least,
                       std::uint64_t most) {
  const auto number = parse_whole(value);
  if (!number || *number < least || *number > most) {
    refuse(key, value, fmt::format("a whole number from {} to {}", least, most).c_str());
  }
  return *number;
}

/// "8.6"
int compute_of(const std::string& value) {
  const std::size_t dot = value.find('.');
  const auto major = parse_whole(value.substr(0, dot));
  const auto minor = parse_whole(dot == value.npos ? "0" : value.substr(dot + 1));
  if (!major || !minor || *major < 5 || *major > 99 || *minor > 9) {
    refuse("sm", value, "a compute capability such as 8.6");
  }
  return static_cast<int>(*major * 10 + *minor);
}

/// What a driver reports depends on the system.
void use_system(Card& card, const std::string& value) {
  if (value == "linux") return;
  if (value != "windows") refuse("os", value, "linux or windows");
  if (card.windows_total == 0) {
    refuse(
        "os", value,
        fmt::format("linux: what {} has under Windows is not known; memory=SIZE says it", card.name)
            .c_str());
  }
  card.total = card.windows_total;
}

/// What is given of the memory; the rest follows from the card.
struct GivenMemory {
  std::optional<Bytes> total;
  std::optional<Bytes> context;
};

void set(VirtualCard& card, GivenMemory& given, const std::string& key, const std::string& value) {
  static const std::vector<std::string> kKeys = {"memory", "context", "sm",  "multiprocessors",
                                                 "os",     "count",   "lag", "benchmark"};
  if (key == "memory") {
    given.total = memory_of(key, value);
  } else if (key == "context") {
    given.context = memory_of(key, value);
  } else if (key == "sm") {
    card.card.compute = compute_of(value);
  } else if (key == "multiprocessors") {
    card.card.multiprocessors = static_cast<int>(whole_of(key, value, 1, 10'000));
  } else if (key == "os") {
    use_system(card.card, value);
  } else if (key == "count") {
    card.count = whole_of(key, value, 1, gpu::kMostCards);
  } else if (key == "lag") {
    card.lag = whole_of(key, value, 0, 1'000'000'000);
  } else if (key == "benchmark") {
    if (value != "first" && value != "least") refuse(key, value, "first or least");
    card.least_engine = value == "least";
  } else {
    throw UsageError(fmt::format("--virtual-gpu has no key '{}'{} (keys: {})", key,
                                 did_you_mean(key, kKeys), fmt::join(kKeys, ", ")));
  }
}

}  // namespace

VirtualCard virtual_card(const std::string& text) {
  const std::size_t colon = text.find(':');
  VirtualCard card{.card = card_named(text.substr(0, colon)).card};
  GivenMemory given;
  std::string rest = colon == text.npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string entry = rest.substr(0, rest.find(','));
    rest.erase(0, entry.size() + 1);
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) {
      throw UsageError(fmt::format("--virtual-gpu has '{}'; expected KEY=VALUE", entry));
    }
    set(card, given, entry.substr(0, equals), entry.substr(equals + 1));
  }
  card.total = given.total.value_or(card.card.total);
  card.context = given.context.value_or(given.total ? 0 : kContext);
  card.libraries = !given.total && !given.context;
  if (card.context >= card.total) {
    throw UsageError("--virtual-gpu leaves no memory beside the context; expected less context");
  }
  return card;
}

std::string settings_of(const VirtualCard& card, const VirtualBehaviour& behaviour) {
  std::string text = fmt::format(
      "name=NVIDIA {};total={};context={};sm={}.{};multiprocessors={};lag={};fill={};seed={};"
      "addresses={}",
      card.card.name, card.total, card.context, card.card.compute / 10, card.card.compute % 10,
      card.card.multiprocessors, card.lag, behaviour.fill, behaviour.seed, behaviour.addresses);
  if (card.libraries) text += ";libraries=1";
  if (card.least_engine) text += ";benchmark=least";
  if (card.count != 0) text += fmt::format(";count={}", card.count);
  if (behaviour.oom_at != 0) text += fmt::format(";oom-at={}", behaviour.oom_at);
  if (behaviour.oom_size != 0) text += fmt::format(";oom-size={}", behaviour.oom_size);
  if (!behaviour.oom_random.empty()) text += ";oom-random=" + behaviour.oom_random;
  return text;
}

}  // namespace memreplay
