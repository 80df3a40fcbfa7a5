#include <algorithm>
#include <string>

#include "core/limits.hpp"
#include "trace/failure_text/reports.hpp"
#include "trace/failure_text/told_sizes.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBins = 21;
constexpr std::string_view kRanOut = "ran out of memory trying to allocate ";

bool has(std::string_view line, std::string_view phrase) { return line.find(phrase) != line.npos; }

std::optional<ToldBytes> exactly(const std::optional<std::uint64_t>& bytes) {
  constexpr Bytes kMost = kMostBytes;
  if (!bytes || *bytes > kMost) return std::nullopt;
  return ToldBytes{*bytes, 0};
}

/// What is between the brackets of "Allocator (GPU_0_bfc) ran out".
std::string allocator_in(std::string_view line) {
  constexpr std::string_view kBefore = "Allocator (";
  const std::size_t from = line.find(kBefore);
  if (from == line.npos) return {};
  const std::string_view rest = line.substr(from + kBefore.size());
  return std::string(rest.substr(0, std::min(rest.find(')'), rest.size())));
}

class BfcReport {
 public:
  /// False once a second report begins.
  bool read(std::string_view line) {
    ++lines_;
    if (has(line, kRanOut) && has(line, "(rounded to ")) {
      if (!begin(Heading::request)) return false;
      failure_.allocator = allocator_in(line);
      failure_.requested = exactly(told_count_behind(line, "(rounded to "));
    } else if (has(line, "BFCAllocator dump for ")) {
      if (!begin(Heading::dump)) return false;
    } else if (has(line, "Bin (")) {
      read_bin(line);
    } else if (has(line, "Bin for ")) {
      any_ = true;
      if (!failure_.requested) failure_.requested = told_size_behind(line, "Bin for ");
      chunks_ = Chunks::begun;
    } else {
      read_chunk(line) || read_total(line) || read_statistic(line) || read_request(line);
    }
    return true;
  }

  std::optional<ToldFailure> finish() {
    if (!any_) return std::nullopt;
    if (chunks_ == Chunks::complete) {
      failure_.largest_free = {largest_free_, 0};
      failure_.live_blocks = in_use_;
      failure_.segments = regions_;
      if (!failure_.reserved) failure_.reserved = {regions_bytes_, 0};
    }
    if (failure_.bins.size() == kBins) {
      failure_.live_requested = client_requested_;
      if (!failure_.live) failure_.live = size_in_use_;
      if (!failure_.reserved) failure_.reserved = size_;
    }
    std::erase_if(failure_.bins, [](const ToldBin& bin) { return bin.chunks == 0; });
    if (!failure_.requested) failure_.requested = request_;
    if (!failure_.free_inside) {
      failure_.free_inside = told_difference(failure_.reserved, failure_.live);
    }
    return failure_;
  }

 private:
  enum class Heading { none, request, dump };
  /// How far the list of chunks was read.
  enum class Chunks { unseen, begun, complete };

  // What came before the first heading is the end of another report.
  bool begin(Heading heading) {
    if (heading_ != Heading::none && heading <= heading_) return false;
    if (heading_ == Heading::none) *this = BfcReport();
    heading_ = heading;
    return any_ = true;
  }

  void read_bin(std::string_view line) {
    const auto from = exactly(told_count_behind(line, "Bin ("));
    const auto chunks = told_count_behind(line, "Total Chunks:");
    const auto in_use = told_count_behind(line, "Chunks in use:");
    const auto size = told_size_before(line, " allocated for chunks");
    const auto size_in_use = told_size_before(line, " in use in bin");
    const auto requested = told_size_before(line, " client-requested");
    if (!from || !chunks || !in_use || !size || !size_in_use || !requested) return;
    any_ = true;
    if (failure_.bins.size() == kBins) return;
    failure_.bins.push_back({from->bytes, *chunks, *in_use, *size, *size_in_use});
    client_requested_ = *told_sum(client_requested_, requested);
    size_ = *told_sum(size_, size);
    size_in_use_ = *told_sum(size_in_use_, size_in_use);
  }

  bool read_chunk(std::string_view line) {
    if (has(line, "Next region of size ")) {
      const auto size = told_count_behind(line, "Next region of size ");
      regions_bytes_ += exactly(size).value_or(ToldBytes{}).bytes;
      ++regions_;
    } else if (has(line, "InUse at ") || has(line, "Free  at ")) {
      const auto size = exactly(told_count_behind(line, " of size "));
      if (!size) return false;
      if (has(line, "InUse at ")) {
        ++in_use_;
      } else {
        largest_free_ = std::max(largest_free_, size->bytes);
      }
    } else if (has(line, "Summary of in-use Chunks by size")) {
      if (chunks_ == Chunks::begun && regions_ > 0) chunks_ = Chunks::complete;
    } else {
      return false;
    }
    return any_ = true;
  }

  bool read_total(std::string_view line) {
    constexpr std::string_view kSum = "Sum Total of in-use chunks: ";
    if (has(line, kSum)) {
      if (!failure_.live) failure_.live = told_size_behind(line, kSum);
    } else if (has(line, "memory_limit_: ")) {
      failure_.limit = exactly(told_count_behind(line, "memory_limit_: "));
      auto pool = told_count_behind(line, "Total bytes in pool: ");
      if (!pool) pool = told_count_behind(line, "total_region_allocated_bytes_: ");
      failure_.reserved = exactly(pool);
    } else if (has(line, "Allocator memory summary: ")) {
      if (!failure_.requested) failure_.requested = told_size_behind(line, "rounded request ");
      failure_.free_inside = told_size_behind(line, "total free in pool ");
      failure_.largest_free = told_size_behind(line, "usable by lower end ");
      failure_.reserved = told_size_behind(line, "pool size ");
      failure_.limit = told_size_behind(line, "pool limit ");
    } else {
      return false;
    }
    return any_ = true;
  }

  bool read_statistic(std::string_view line) {
    const auto number = [&](std::string_view label) {
      return exactly(told_count_behind(line, label));
    };
    if (const auto limit = number("Limit: ")) {
      if (limit->bytes > 0) failure_.limit = limit;
    } else if (const auto peak = number("MaxInUse: ")) {
      failure_.live_peak = peak;
    } else if (const auto live = number("InUse: ")) {
      // The end of "MaxInUse: " where the text begins in it.
      const std::size_t at = line.find("InUse: ");
      if (at == 0 ? lines_ > 1 : line[at - 1] == ' ') failure_.live = live;
    } else if (const auto largest = number("LargestFreeBlock: ")) {
      if (largest->bytes > 0) failure_.largest_free = largest;  // 0 in classic originals
    } else {
      return false;
    }
    return any_ = true;
  }

  bool read_request(std::string_view line) {
    auto request = told_size_behind(line, kRanOut);
    if (!request) request = told_size_behind(line, "ut of memory while trying to allocate ");
    if (!request) request = told_size_behind(line, "ut of memory trying to allocate ");
    if (!request) return false;
    if (!request_) request_ = request;
    if (failure_.allocator.empty()) failure_.allocator = allocator_in(line);
    return any_ = true;
  }

  ToldFailure failure_;
  Heading heading_ = Heading::none;
  Chunks chunks_ = Chunks::unseen;
  bool any_ = false;
  std::uint64_t lines_ = 0;
  std::optional<ToldBytes> request_;  ///< as people read it
  ToldBytes client_requested_;        ///< in all bins, as the next two
  ToldBytes size_;
  ToldBytes size_in_use_;
  Bytes largest_free_ = 0;
  Bytes regions_bytes_ = 0;
  std::uint64_t regions_ = 0;
  std::uint64_t in_use_ = 0;
};

}  // namespace

std::string_view take_line(std::string_view& text) {
  const std::string_view line =
      text.substr(0, text.find('\n') == text.npos ? text.size() : text.find('\n') + 1);
  text.remove_prefix(line.size());
  return line;
}

std::optional<ToldFailure> told_by_bfc(std::string_view text) {
  BfcReport report;
  std::uint64_t reports = 1;
  while (!text.empty()) {
    const std::string_view rest = text;
    if (report.read(take_line(text))) continue;
    // What comes after the first report is only counted.
    for (text = rest; !text.empty();) {
      if (has(take_line(text), "BFCAllocator dump for ")) ++reports;
    }
  }
  auto failure = report.finish();
  if (failure) failure->reports = reports;
  return failure;
}

}  // namespace memreplay
