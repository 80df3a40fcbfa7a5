#include "core/siphash.hpp"

#include <bit>
#include <cstring>

namespace memreplay {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  std::uint64_t finish() {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

constexpr char kDigits[] = "0123456789abcdef";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

Hash128 siphash(std::string_view bytes, Hash128 key) {
  State state{key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d ^ 0xee,
              key.low ^ 0x6c7967656e657261, key.high ^ 0x7465646279746573};
  const std::uint64_t last = std::uint64_t{bytes.size()} << 56;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    state.take(word);
  }
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  state.take(last | rest);
  state.v2 ^= 0xee;
  const std::uint64_t low = state.finish();
  state.v1 ^= 0xdd;
  return {low, state.finish()};
}

std::string hex_of(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::optional<std::string> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes(text.size() / 2, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int value = digit(text[i]);
    if (value < 0) return std::nullopt;
    bytes[i / 2] = static_cast<char>(static_cast<unsigned char>(bytes[i / 2]) << 4 | value);
  }
  return bytes;
}

std::string hex_of(const Hash128& hash) {
  return hex_of(std::string_view(reinterpret_cast<const char*>(&hash), sizeof hash));
}

std::optional<Hash128> hash_of_hex(std::string_view text) {
  const auto bytes = bytes_of_hex(text);
  Hash128 hash;
  if (!bytes || bytes->size() != sizeof hash) return std::nullopt;
  std::memcpy(&hash, bytes->data(), sizeof hash);
  return hash;
}

}  // namespace memreplay
