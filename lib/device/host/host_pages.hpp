#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/units.hpp"

namespace memreplay {

/// Bytes of memory that may still be promised. A machine that overcommits never refuses; it ends
/// the process when the pages are touched.
class Room {
 public:
  explicit Room(Bytes size) : left_(size) {}

  bool take(Bytes bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void give_back(Bytes bytes) { left_ += bytes; }
  Bytes left() const { return left_; }

 private:
  Bytes left_;
};

/// Addresses apart from the memory behind them: a piece is a part of a file without a name, which
/// may be mapped anywhere, also twice. See RealMemory for the calls; misuse throws
/// std::logic_error. O(log n) beside the system's calls.
class HostPages {
 public:
  using Piece = std::uint64_t;

  /// Pieces are taken out of `room`.
  HostPages(Room& room, Bytes page);
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// True where the system lets this process have a file without a name.
  bool usable() const { return file_ >= 0; }

  std::optional<Address> reserve(Bytes size);
  void release(Address at, Bytes size);
  std::optional<Piece> create(Bytes size);
  void destroy(Piece piece);
  bool map(Address at, Bytes size, Piece piece);
  bool set_access(Address at, Bytes size);
  void unmap(Address at, Bytes size);

 private:
  struct PieceInfo {
    Bytes size = 0;
    std::uint32_t mappings = 0;
  };
  struct Mapping {
    Bytes size = 0;
    Piece piece = 0;
  };

  bool reserved(Address at, Bytes size) const;
  bool any_mapped(Address at, Bytes size) const;
  void check_whole(Bytes size) const;

  Room* room_;
  Bytes page_;
  int file_;
  Bytes end_ = 0;  ///< end of the parts given so far; none is given twice, and a hole costs nothing
  std::unordered_map<Piece, PieceInfo> pieces_;  ///< by their place in the file
  std::map<Address, Bytes> reservations_;
  std::map<Address, Mapping> mappings_;
};

}  // namespace memreplay
