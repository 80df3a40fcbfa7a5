#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "strategy/bfc/allocator.hpp"

// What TensorFlow and XLA print when a request fails: BFCAllocator::DumpMemoryLog and what stands
// around it, without the prefixes of the log.

namespace memreplay::bfc {
namespace {

constexpr int kBins = 21;
constexpr std::uint64_t kNoSlot64 = UINT64_MAX;

/// The original's short form, which drops low bits while it divides.
std::string human(std::int64_t bytes) {
  const std::string sign = bytes < 0 ? "-" : "";
  auto number = bytes < 0 ? -bytes : bytes;
  if (number < 1024) return fmt::format("{}{}B", sign, number);
  std::size_t unit = 0;
  while (number >= 1024 * 1024) {
    number /= 1024;
    ++unit;
  }
  const double shown = static_cast<double>(number) / 1024.0;
  const char prefix = "KMGTPE"[unit];
  return unit == 0 ? fmt::format("{}{:.1f}{}iB", sign, shown, prefix)
                   : fmt::format("{}{:.2f}{}iB", sign, shown, prefix);
}

std::string human(Bytes bytes) { return human(static_cast<std::int64_t>(bytes)); }

std::string_view word(Tag tag) {
  constexpr std::array<std::string_view, 3> kWords = {"lower", "upper", "central_gap"};
  return kWords[static_cast<std::size_t>(tag)];
}

class Report {
 public:
  Report(const Allocator& allocator, const Request& request)
      : allocator_(allocator),
        request_(request),
        options_(allocator.options()),
        modern_(options_.report == Generation::modern),
        has_units_(options_.report != Generation::classic),
        end_(options_.spatial && request.upper_end ? Tag::upper : Tag::lower) {}

  std::string text() {
    head();
    add("BFCAllocator dump for {}\n", options_.name);
    bins();
    bin_of_request();
    regions();
    chunks_in_use();
    modern_ ? modern_totals() : classic_totals();
    statistics();
    add("{}\n", allocator_.occupancy_map());
    add("Allocator ({}) ran out of memory trying to allocate {} with freed_by_count={}.\n",
        options_.name, human(request_.size), request_.freed_before);
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  const Piece& piece(Handle chunk) const { return allocator_.chunks()[chunk]; }

  void head() {
    add("Allocator ({}) ran out of memory trying to allocate {} (rounded to {}){}requested by op "
        "{}\n",
        options_.name, human(request_.size), rounded(request_.size),
        modern_ ? fmt::format(" from the {} end ", word(end_)) : std::string(),
        allocator_.op_name(request_));
    add("If the cause is memory fragmentation maybe the environment variable "
        "'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. \n"
        "Current allocation summary follows.\nCurrent allocation summary follows.\n");
  }

  void bins() {
    struct Sums {
      std::uint64_t chunks = 0, chunks_in_use = 0;
      Bytes bytes = 0, bytes_in_use = 0, requested_in_use = 0;
    };
    std::array<Sums, kBins> sums;
    allocator_.chunks().for_each([&](Handle chunk) {
      const Piece& p = piece(chunk);
      if (!p.in_use && !p.is_binned()) return;  // the central gap
      Sums& bin = sums[static_cast<std::size_t>(bin_of(p.size))];
      ++bin.chunks;
      bin.bytes += p.size;
      if (!p.in_use) return;
      ++bin.chunks_in_use;
      bin.bytes_in_use += p.size;
      bin.requested_in_use += p.requested;
    });
    for (std::size_t b = 0; b < kBins; ++b) {
      add("Bin ({}): \tTotal Chunks: {}, Chunks in use: {}. {} allocated for chunks. {} in use in "
          "bin. {} client-requested in use in bin.\n",
          kGranule << b, sums[b].chunks, sums[b].chunks_in_use, human(sums[b].bytes),
          human(sums[b].bytes_in_use), human(sums[b].requested_in_use));
    }
  }

  std::string shown(Handle chunk) const {
    const Piece& p = piece(chunk);
    return fmt::format("  Size: {} | Requested Size: {} | in_use: {} | bin_num: {}", human(p.size),
                       human(p.requested), p.in_use ? 1 : 0, p.is_binned() ? bin_of(p.size) : -1);
  }

  void bin_of_request() {
    const Bytes size = rounded(request_.size);
    const int bin = bin_of(size);
    add("Bin for {} was {}, Chunk State: \n", human(size), human(kGranule << bin));
    for (const Handle chunk : allocator_.bin(bin)) {
      const Piece& p = piece(chunk);
      text_ += shown(chunk);
      if (p.below != kNoHandle) text_ += ", prev: " + shown(p.below);
      if (p.above != kNoHandle) text_ += ", next: " + shown(p.above);
      text_ += '\n';
    }
  }

  void regions() {
    for (const auto& [address, first] : allocator_.chunks().regions()) {
      Bytes size = 0;
      for (Handle c = first; c != kNoHandle; c = piece(c).above) size += piece(c).size;
      add("Next region of size {}\n", size);
      for (Handle c = first; c != kNoHandle; c = piece(c).above) chunk_line(piece(c));
    }
  }

  void chunk_line(const Piece& p) {
    add("{} at {:x} of size {}", p.in_use ? "InUse" : "Free ", p.address, p.size);
    if (modern_) add(" tag {}", word(p.tag));
    add(" next {}", p.above == kNoHandle ? kNoSlot64 : p.above);
    if (options_.timestamped) add(" freed_at_count {}", p.freed_at);
    text_ += '\n';
  }

  void chunks_in_use() {
    std::map<Bytes, std::uint64_t> count_of_size;
    Bytes total = 0;
    allocator_.chunks().for_each([&](Handle chunk) {
      const Piece& p = piece(chunk);
      if (!p.in_use) return;
      ++count_of_size[p.size];
      total += p.size;
    });
    add("     Summary of in-use Chunks by size: \n");
    for (const auto& [size, count] : count_of_size) {
      add("{} Chunks of size {} totalling {}\n", count, size, human(size * count));
    }
    add("Sum Total of in-use chunks: {}\n", human(total));
  }

  std::int64_t outside_pool() const {
    return static_cast<std::int64_t>(options_.limit) -
           static_cast<std::int64_t>(allocator_.statistics().pool_bytes);
  }

  void classic_totals() {
    const std::string_view what = has_units_ ? "size" : "bytes";
    add("Total {} in pool: {} memory_limit_: {} available {}: {} "
        "curr_region_allocation_bytes_: {}\n",
        what, figure(allocator_.statistics().pool_bytes), figure(options_.limit), what,
        has_units_ ? human(outside_pool()) : std::to_string(outside_pool()),
        figure(allocator_.next_region()));
  }

  std::string figure(Bytes value) const {
    return has_units_ ? human(value) : std::to_string(value);
  }

  void modern_totals() {
    const Statistics& s = allocator_.statistics();
    add("Allocator memory summary: rounded request {}, total free in pool {}, largest free chunk "
        "usable by {} end {}, unallocated bytes {}, pool size {}, pool limit {}\n",
        human(rounded(request_.size)), human(s.pool_bytes - s.bytes_in_use), word(end_),
        human(allocator_.largest_free(end_)), human(outside_pool()), human(s.pool_bytes),
        human(options_.limit));
    if (options_.spatial) {
      add("Spatial partitioning summary for {}: largest free lower {}, largest free upper {}\n",
          options_.name, human(allocator_.largest_free(Tag::lower)),
          human(allocator_.largest_free(Tag::upper)));
    }
    add("Allocator region growth hint: next region allocation target {} (growth {}).\n",
        human(allocator_.next_region()), options_.allow_growth ? "enabled" : "disabled");
  }

  void statistics() {
    const Statistics& s = allocator_.statistics();
    add("Stats: \n");
    const auto line = [&](std::string_view label, Bytes value) {
      add("{:<18}{:>20}\n", label, figure(value));
    };
    line("Limit:", options_.limit);
    line("InUse:", s.bytes_in_use);
    line("MaxInUse:", s.peak_bytes_in_use);
    add("{:<18}{:>20}\n", "NumAllocs:", s.num_allocs);
    line("MaxAllocSize:", s.largest_alloc_size);
    line("Reserved:", 0);
    line("PeakReserved:", 0);
    line("LargestFreeBlock:", modern_ ? allocator_.largest_free() : 0);
    text_ += '\n';
  }

  const Allocator& allocator_;
  const Request& request_;
  const Options& options_;
  const bool modern_;
  const bool has_units_;
  const Tag end_;
  std::string text_;
};

}  // namespace

std::string Allocator::oom_report(const Request& request) const {
  return Report(*this, request).text();
}

std::optional<double> Allocator::fragmentation() const {
  const Bytes available = statistics_.pool_bytes - statistics_.bytes_in_use;
  if (available == 0) return std::nullopt;
  return static_cast<double>(available - largest_free()) / static_cast<double>(available);
}

std::string Allocator::occupancy_map() const {
  constexpr Bytes kCells = 100;
  const Bytes total = statistics_.pool_bytes;
  if (total == 0) return "<allocator contains no memory>";
  std::string cells(kCells, '_');
  // Bytes of the pool, the regions laid end to end.
  const auto paint = [&](Bytes from, Bytes size, char with) {
    if (size == 0) return;
    // In 128 bits a pool of any size times 100 fits.
    __extension__ using Wide = unsigned __int128;
    const auto cell = [&](Bytes at) { return static_cast<std::size_t>(Wide{at} * kCells / total); };
    std::fill(cells.begin() + static_cast<std::ptrdiff_t>(cell(from)),
              cells.begin() + static_cast<std::ptrdiff_t>(cell(from + size - 1)) + 1, with);
  };
  Bytes offset = 0;
  chunks_.for_each([&](Handle chunk) {
    const Piece& p = chunks_[chunk];
    if (p.in_use) {
      paint(offset + p.requested, p.size - p.requested, 'x');
      paint(offset, p.requested, '*');
    }
    offset += p.size;
  });
  return cells;
}

}  // namespace memreplay::bfc
