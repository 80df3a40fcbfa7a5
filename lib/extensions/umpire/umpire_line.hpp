#pragma once

#include <optional>
#include <string_view>

namespace memreplay {

/// The fields of a line of either generation that tell of blocks, as they are written; empty where
/// the line does not have them.
struct UmpireLine {
  std::string_view name;      ///< "allocate", "make_allocator"
  std::string_view category;  ///< second generation: "operation"
  std::string_view kind;      ///< first generation: "replay"
  std::string_view process;   ///< first generation: its uid
  std::string_view timestamp;
  std::string_view allocator;  ///< by address
  std::string_view allocator_name;
  std::string_view parent;  ///< by name: of what an allocator is made
  std::string_view size;
  std::string_view pointer;
  std::string_view block_name;
  std::string_view result;    ///< the pointer that a call of the first gave back
  std::string_view resource;  ///< the address of what makeMemoryResource made

  bool is_first_generation() const { return !kind.empty(); }
};

/// Unset where the line is no JSON object.
std::optional<UmpireLine> parse_umpire_line(std::string_view line);

}  // namespace memreplay
