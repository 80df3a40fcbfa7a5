#include "fuzz/mutator.hpp"

#include <algorithm>
#include <iterator>

namespace memreplay {
namespace {

constexpr std::size_t kLongest = 64 << 10;

constexpr std::uint64_t kEdges[] = {0,
                                    1,
                                    0x7F,
                                    0x80,
                                    0xFF,
                                    0x100,
                                    0x7FFF,
                                    0xFFFF,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    0xFFFFFFFF,
                                    0x100000000,
                                    1ULL << 44,
                                    1ULL << 62,
                                    (1ULL << 63) - 1,
                                    1ULL << 63,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};

}  // namespace

std::string Mutator::input(std::uint64_t number) {
  std::seed_seq from{seed_, number};
  random_.seed(from);
  std::string bytes = any_seed();
  for (std::size_t left = 1 + below(4); left > 0; --left) change(bytes);
  bytes.resize(std::min(bytes.size(), kLongest));
  return bytes;
}

const std::string& Mutator::any_seed() {
  static const std::string kNothing;
  return target_.seeds.empty() ? kNothing : target_.seeds[below(target_.seeds.size())];
}

void Mutator::change(std::string& bytes) {
  switch (below(9)) {
    case 0:
      if (!bytes.empty()) bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
      break;
    case 1:
      replace(bytes, std::string(1, static_cast<char>(random_())), below(2));
      break;
    case 2:
      replace(bytes, whole_number(), below(9));
      break;
    case 3:
      replace(bytes, {}, 1 + below(64));
      break;
    case 4:
      bytes.resize(below(bytes.size() + 1));
      break;
    case 5:
    case 6:
      if (!target_.words.empty()) {
        const std::string& word = target_.words[below(target_.words.size())];
        replace(bytes, word, below(2) == 0 ? 0 : word.size());
      }
      break;
    case 7:
      replace(bytes, piece_of(below(2) == 0 ? bytes : any_seed()), below(64));
      break;
    default: {
      const std::string piece = piece_of(bytes);
      std::string again;
      for (std::size_t times = 1 + below(100); times > 0; --times) again += piece;
      replace(bytes, again, 0);
    }
  }
}

void Mutator::replace(std::string& bytes, std::string_view by, std::size_t length) {
  const std::size_t at = below(bytes.size() + 1);
  bytes.replace(at, std::min(length, bytes.size() - at), by);
}

std::string Mutator::whole_number() {
  const std::uint64_t edge = kEdges[below(std::size(kEdges))] + below(3) - 1;
  if (below(3) == 0) return std::string(hostile_texts()[below(hostile_texts().size())]);
  if (below(2) == 0) return std::to_string(edge);
  std::string binary;
  for (std::size_t byte = 0, count = std::size_t{1} << below(4); byte < count; ++byte) {
    binary += static_cast<char>(edge >> (8 * byte));
  }
  return binary;
}

std::string Mutator::piece_of(const std::string& bytes) {
  const std::size_t from = below(bytes.size());
  return bytes.substr(from, 1 + below(128));
}

}  // namespace memreplay
