#include "settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string_view>

#include "shared_cards.hpp"

namespace memreplay::gpu {
namespace {

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

std::uint64_t whole(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

/// "5" of "8.5" or "8:5".
std::string after_mark(const std::string& value) {
  return value.substr(value.find_first_of(".:") + 1);
}

void set(Settings& settings, const std::string& key, const std::string& value) {
  if (key == "name") settings.name = value;
  if (key == "total") settings.total = whole(value);
  if (key == "context") settings.context = whole(value);
  if (key == "libraries") settings.libraries = value == "1";
  if (key == "multiprocessors") settings.multiprocessors = static_cast<int>(whole(value));
  if (key == "count") settings.count = static_cast<int>(whole(value));
  if (key == "addresses" && value == "upward") settings.order = AddressPolicy::first_fit;
  if (key == "cudnn") settings.cudnn = value;
  if (key == "benchmark") settings.least_engine = value == "least";
  if (key == "lag") settings.lag = whole(value);
  if (key == "seed") settings.seed = whole(value);
  if (key == "fill") {
    settings.fill = value == "nan" ? Fill::nan : value == "random" ? Fill::random : Fill::zeros;
  }
  if (key == "sm") {
    settings.major = static_cast<int>(whole(value));
    settings.minor = static_cast<int>(whole(after_mark(value)));
  }
}

void set(Refusals& refusals, const std::string& key, const std::string& value) {
  if (key == "oom-at") refusals.at = whole(value);
  if (key == "oom-size") refusals.size = whole(value);
  if (key == "oom-random") {
    refusals.random_seed = whole(value);
    refusals.rate = std::strtod(after_mark(value).c_str(), nullptr);
  }
}

/// Calls `use` with each part of the text, in their order, while it answers true.
template <typename Use>
void for_parts(std::string_view text, char separator, Use&& use) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (!use(part)) return;
  }
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// "3"; unset: the text is no number.
std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int cards_here() {
  int most = number_of(variable("LOCAL_WORLD_SIZE")).value_or(1);
  for_parts(variable(kVisible), ',', [&](std::string_view name) {
    most = std::max(most, number_of(name).value_or(0) + 1);
    return true;
  });
  return std::clamp(most, 1, static_cast<int>(kMostCards));
}

/// By its number or the beginning of its UUID; unset: there is none.
std::optional<int> card_named(std::string_view name) {
  for (int card = 0; card < card_count(); ++card) {
    const bool has_uuid = name.starts_with("GPU-") && uuid_of_card(card).starts_with(name);
    if (has_uuid || number_of(name) == card) return card;
  }
  return std::nullopt;
}

std::vector<int> read_visible() {
  std::vector<int> cards;
  if (!std::getenv(kVisible)) {
    cards.resize(static_cast<std::size_t>(card_count()));
    std::iota(cards.begin(), cards.end(), 0);
    return cards;
  }
  for_parts(variable(kVisible), ',', [&](std::string_view name) {
    const auto card = card_named(name);
    if (card) cards.push_back(*card);
    return card.has_value();
  });
  const bool twice =
      std::ranges::any_of(cards, [&](int card) { return std::ranges::count(cards, card) > 1; });
  return twice ? std::vector<int>{} : cards;
}

/// What the variable says of Settings or of Refusals.
template <typename Part>
Part read() {
  Part part;
  for_parts(variable("MEMREPLAY_VIRTUAL_GPU"), ';', [&](std::string_view entry) {
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos) {
      set(part, std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1)));
    }
    return true;
  });
  return part;
}

}  // namespace

const Settings& settings() {
  static const auto read_once = read<Settings>();
  return read_once;
}

const Refusals& refusals() {
  static const auto read_once = read<Refusals>();
  return read_once;
}

int card_count() {
  static const int count = settings().count == 0 ? cards_here() : settings().count;
  return count;
}

const std::vector<int>& visible_cards() {
  static const std::vector<int> read_once = read_visible();
  return read_once;
}

std::string uuid_of_card(int card) {
  std::array<char, 41> text{};
  std::snprintf(text.data(), text.size(), "GPU-%08x-0000-0000-0000-000000000000", card + 1);
  return text.data();
}

}  // namespace memreplay::gpu
