#include "strategy/torch/numbers.hpp"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>

#include "strategy/torch/conf.hpp"

namespace memreplay::torch {

std::optional<PrefixNumber<std::uint64_t>> whole_prefix(const std::string& text,
                                                        const Release& release) {
  std::size_t from = text.find_first_not_of(" \t\n\v\f\r");
  if (from == text.npos) return std::nullopt;
  PrefixNumber<std::uint64_t> number;
  number.negative = text[from] == '-';
  if (text[from] == '-' || text[from] == '+') ++from;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data() + from, end, number.value);
  const std::uint64_t largest = release.has(kNewParser) ? UINT64_MAX : INT_MAX;
  if (code != std::errc{} || number.value > largest) return std::nullopt;
  number.whole_text = stop == end;
  if (number.negative) number.value = 0 - number.value;
  return number;
}

std::optional<PrefixNumber<double>> decimal_prefix(const std::string& text) {
  PrefixNumber<double> number;
  char* stop = nullptr;
  errno = 0;
  number.value = std::strtod(text.c_str(), &stop);
  if (stop == text.c_str() || errno == ERANGE) return std::nullopt;
  number.whole_text = stop == text.c_str() + text.size();
  number.negative = number.value < 0;
  return number;
}

}  // namespace memreplay::torch
