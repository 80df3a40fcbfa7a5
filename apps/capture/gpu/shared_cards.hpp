#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace memreplay::gpu {

inline constexpr std::size_t kMostCards = 16;  ///< on one machine

/// What a process has on one card, its context included.
struct CardUse {
  pid_t process = 0;
  Bytes bytes = 0;
};

/// What every process of one recording has on each card of its machine: one count for all of them,
/// in memory that they share. What a process had is given back when it ends, however it does, or
/// becomes another program: it is known by its number, when it started, and where its program lies.
class SharedCards {
 public:
  /// New cards, all of whose memory is free.
  SharedCards();
  /// Opens the cards of which this is the `path()`. Where that fails, says so on standard error,
  /// and this process has cards of its own.
  explicit SharedCards(const char* path);
  ~SharedCards();
  SharedCards(const SharedCards&) = delete;
  SharedCards& operator=(const SharedCards&) = delete;

  /// Other processes of this user open the cards by this path while this object lives.
  std::string path() const;

  /// Takes memory of a card for this process; false when that much is not left. A lock and a sum
  /// over processes; asks the system only when the card is full.
  bool charge(std::size_t card, Bytes size, Bytes capacity);
  /// `size` was charged by this process.
  void discharge(std::size_t card, Bytes size);

  /// What all living processes have; asks the system once for each.
  Bytes used(std::size_t card);
  std::vector<CardUse> uses(std::size_t card);

  /// For a process that was forked: what its parent has is the parent's.
  void forget_own() { own_ = nullptr; }

 private:
  struct Slot;
  struct Table;
  class Lock;

  void create();
  bool take_slot();
  void sweep();
  Bytes sum(std::size_t card) const;

  int file_ = -1;  ///< cards that were made here
  Table* table_ = nullptr;
  Slot* own_ = nullptr;
};

}  // namespace memreplay::gpu
