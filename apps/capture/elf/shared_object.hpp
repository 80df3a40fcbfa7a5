#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

struct VersionedSymbol {
  std::string name;
  std::string version;  // "" for none

  friend auto operator<=>(const VersionedSymbol&, const VersionedSymbol&) = default;
};

struct SharedObject {
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> versions;  // its own symbols', in order; without the base version
  std::vector<VersionedSymbol> functions;
};

/// What every written object offers beside its functions: their names in order, a line each, and a
/// zero byte at the end; a 64-bit count of calls for each; and how many there are (64 bits).
constexpr std::string_view kNamesSymbol = "memreplay_stand_in_names";
constexpr std::string_view kCountsSymbol = "memreplay_stand_in_counts";
constexpr std::string_view kSizeSymbol = "memreplay_stand_in_size";

/// True for functions whose caller reads a text from the address that they return.
bool returns_text(std::string_view function);

/// The file of a shared object for x86-64 whose functions count their calls and return 0, or the
/// text "no error". It needs no relocation. Every version of a function is one of `versions`.
std::string written(const SharedObject& object);

}  // namespace memreplay
