#pragma once

#include <cstddef>
#include <cstdint>

#include "spool/spool_format.hpp"

namespace memreplay::capture {

/// The calls of a page, one after the other; its process may be writing more.
class PageReader {
 public:
  /// `size` is that of the page, less where its file ends earlier. Throws nothing: what cannot be
  /// an entry ends the page.
  PageReader(const std::byte* page, std::size_t size, std::size_t record_bytes,
             double ns_per_order);

  /// Reads the next call with what its recorder added; false after the last one.
  bool next(std::byte* record);
  /// Whether there is something after the last call: an entry that was being made.
  bool is_torn() const;
  /// Where the call that was read last begins in the page.
  std::size_t place() const { return static_cast<std::size_t>(begins_ - page_); }
  /// An order of this page and its time, the latest that were written.
  std::uint64_t timed_order() const { return timed_order_; }
  std::int64_t time_ns() const { return time_ns_; }

 private:
  bool next_entry(Record& record, Entry& entry);
  std::uint64_t take(std::size_t bytes);
  std::int64_t time_at(std::uint64_t order) const;

  const std::byte* page_;
  const std::byte* end_;
  const std::byte* at_;
  const std::byte* begins_;
  std::size_t further_bytes_;
  double ns_per_order_;
  std::uint64_t order_;
  std::uint64_t sixteenth_ = 0;
  std::uint64_t timed_order_;
  std::int64_t time_ns_;
};

}  // namespace memreplay::capture
