#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.hpp"

namespace memreplay {

/// Damages a target's seeds. The input of a number is the same for the same seed.
class Mutator {
 public:
  Mutator(const FuzzTarget& target, std::uint64_t seed) : target_(target), seed_(seed) {}

  std::string input(std::uint64_t number);

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
  const std::string& any_seed();
  void change(std::string& bytes);
  void replace(std::string& bytes, std::string_view by, std::size_t length);
  std::string whole_number();
  std::string piece_of(const std::string& bytes);

  const FuzzTarget& target_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
};

}  // namespace memreplay
