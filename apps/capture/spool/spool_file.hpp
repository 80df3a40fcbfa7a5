#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <string>
#include <unordered_set>
#include <vector>

#include "spool/spool_format.hpp"

namespace memreplay::capture {

/// A spool, mapped; its process may still be writing.
class SpoolFile {
 public:
  /// Throws InputError where there is none, or it is none.
  explicit SpoolFile(std::string path);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  const std::string& path() const { return path_; }
  const SpoolHead& head() const { return *reinterpret_cast<const SpoolHead*>(bytes_); }
  std::size_t pages() const { return size_ / kSpoolPageBytes - 1; }
  const SpoolPageHead& page(std::size_t number) const {
    return *reinterpret_cast<const SpoolPageHead*>(bytes_ + (number + 1) * kSpoolPageBytes);
  }
  std::size_t records_a_page() const {
    return (kSpoolPageBytes - sizeof(SpoolPageHead)) / head().record_bytes;
  }
  const Record& record(std::size_t page_number, std::size_t number) const {
    const auto* const first = reinterpret_cast<const std::byte*>(&page(page_number) + 1);
    return *reinterpret_cast<const Record*>(first + number * head().record_bytes);
  }

 private:
  void check() const;

  std::string path_;
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// The records of all threads of a spool, in their order, without those of a free or reallocation
/// that failed: such a block stays, and the record of the failure alone is given. Holds 16 bytes a
/// page.
class SpoolRecords {
 public:
  explicit SpoolRecords(const SpoolFile& spool);

  /// Null after the last one.
  const Record* next();
  /// Who made the record that was given last.
  std::uint32_t thread() const { return spool_.page(at_.page).thread; }
  /// Orders so far that no record has: threads were on their way when the process was killed.
  std::uint64_t missing() const { return latest_ - spool_.head().first_order - given_; }

 private:
  struct Place {
    std::uint64_t order = 0;  ///< order of the record there
    std::uint32_t page = 0;
    std::uint32_t number = 0;

    friend bool operator>(const Place& a, const Place& b) { return a.order > b.order; }
  };

  void find_undone();
  const Record* next_written();
  bool advance();
  std::uint64_t order_at(std::size_t page, std::size_t number) const;

  const SpoolFile& spool_;
  std::unordered_set<std::uint64_t> undone_;  ///< orders of calls that a later record takes back
  std::vector<Place> unopened_;  ///< pages, by the order of their first record, latest first
  std::priority_queue<Place, std::vector<Place>, std::greater<>> open_;
  Place at_;
  bool has_more_ = false;  ///< in the page of `at_`
  std::uint64_t latest_;
  std::uint64_t given_ = 0;
};

}  // namespace memreplay::capture
