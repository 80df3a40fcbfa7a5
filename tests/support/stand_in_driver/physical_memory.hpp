#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace stand_in {

/// Physical memory of the double: ranges of a file without a name, which can be mapped anywhere and
/// more than once.
class PhysicalMemory {
 public:
  PhysicalMemory() = default;
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  std::optional<std::uint64_t> take(std::uint64_t size);
  void give_back(std::uint64_t offset, std::uint64_t size);
  /// Without access to it yet.
  bool map(std::uint64_t at, std::uint64_t size, std::uint64_t offset);

 private:
  int file_ = -1;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< sizes by offset; neighbours are joined
};

}  // namespace stand_in
