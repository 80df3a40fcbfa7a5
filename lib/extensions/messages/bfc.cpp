#include <algorithm>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBins = 21;

/// Reads the lines of reports, one after the other.
class BfcReports {
 public:
  BfcReports(const PackedText& text, std::vector<FoundMessage>& found)
      : text_(text), found_(found) {}

  void read() {
    for (std::size_t i = 0; i < text_.lines.size(); ++i) {
      from_ = text_.lines[i].at;
      to_ = i + 1 < text_.lines.size() ? text_.lines[i + 1].at : text_.text.size();
      number_ = text_.lines[i].number;
      first_ = i == 0;
      if (from_ < to_) read_line(text_.lines[i].rank);
    }
    finish();
  }

 private:
  using Match = std::optional<PatternMatch>;
  enum class Heading { none, request, dump };
  /// How far the list of chunks was read.
  enum class Chunks { unseen, begun, complete, broken };
  struct Report {
    OomMessage message;
    std::uint64_t line = 0;
    Heading heading = Heading::none;
    Chunks chunks = Chunks::unseen;
    bool any = false;
    bool only_statistics = true;
    std::optional<RoundedBytes> request;  ///< as people read it
    RoundedBytes client_requested;        ///< in all bins, as the next two
    RoundedBytes size;
    RoundedBytes size_in_use;
    Bytes largest_free = 0;
    Bytes regions_bytes = 0;
    Bytes chunks_bytes = 0;  ///< those in use
    std::uint64_t regions = 0;
    std::uint64_t in_use = 0;
  };

  Match find(const Pattern& pattern) const { return pattern.find(text_.text, from_, to_); }
  bool has(const Pattern& pattern) const { return find(pattern).has_value(); }
  /// Sets a figure of the message, over an earlier one.
  bool set(Figure figure, const Pattern& pattern) {
    const Match match = find(pattern);
    if (!match || match->values[0].overflows) return false;
    report_.message[figure] = match->values[0].size;
    return true;
  }

  void read_line(const std::optional<std::uint64_t>& rank) {
    static const Pattern kHarmless = "this is not a failure";
    static const Pattern kRanOut = "ran out of memory trying to allocate {size}";
    static const Pattern kRanOutFirst = "Ran out of memory trying to allocate {size}";
    const Match request = has(kRanOut) ? find(kRanOut) : find(kRanOutFirst);
    if (request && kHarmless.find(text_.text, request->end, request->end + 200)) {
      return add_harmless(*request, rank);
    }
    const std::size_t lines = found_.size();
    const bool more = read_heading() || read_bin() || read_chunk() || read_total();
    if (more || read_statistic() || read_request(request)) {
      report_.only_statistics &= !more;
      if (!report_.any || found_.size() > lines) report_.line = number_;
      report_.any = true;
      if (!report_.message[Count::rank]) report_.message[Count::rank] = rank;
    } else if (report_.chunks == Chunks::begun) {
      report_.chunks = Chunks::broken;  // a chunk may be on the line that cannot be read
    }
  }

  void add_harmless(const PatternMatch& request, const std::optional<std::uint64_t>& rank) {
    OomMessage message;
    message.kind = "bfc";
    message.detail = "a line of a BFC allocator";
    message.harmless = true;
    message[Figure::requested] = request.values[0].size;
    message[Count::rank] = rank;
    message[OomWord::allocator] = allocator();
    found_.push_back({std::move(message), number_});
  }

  std::string allocator() const {
    static const Pattern kAllocator = "Allocator ({word})";
    const Match match = find(kAllocator);
    return match ? std::string(match->values[0].word) : "";
  }

  // What came before the first heading is the end of another report.
  void begin(Heading heading) {
    if (heading > report_.heading && report_.heading != Heading::none) {
      report_.heading = heading;
      return;
    }
    finish();
    report_.heading = heading;
  }

  bool read_heading() {
    static const Pattern kRounded = "(rounded to {size:B})";
    static const Pattern kRoundedPlain = "(rounded to";
    static const Pattern kFollows = "Current allocation summary follows";
    static const Pattern kRanOut = "ran out of memory trying to allocate";
    static const Pattern kDump = "BFCAllocator dump for {word}";
    static const Pattern kDumpPlain = "BFCAllocator dump for";
    if (has(kRanOut) && (has(kRoundedPlain) || has(kFollows))) {
      begin(Heading::request);
      report_.message[OomWord::allocator] = allocator();
      set(Figure::requested, kRounded);
      return has(kRoundedPlain);
    }
    if (!has(kDumpPlain)) return false;
    begin(Heading::dump);
    return true;
  }

  bool read_bin() {
    static const Pattern kBin =
        "Bin ({size:B}): Total Chunks: {number}, Chunks in use: {number}. {size} allocated for "
        "chunks. "
        "{size} in use in bin. {size} client-requested in use in bin";
    static const Pattern kBegin = "Bin for {size} was";
    if (const Match at = find(kBegin)) {
      if (!report_.message[Figure::requested])
        report_.message[Figure::requested] = at->values[0].size;
      report_.chunks = Chunks::begun;
      return true;
    }
    const Match bin = find(kBin);
    if (!bin) return false;
    const auto& [from, chunks, in_use, size, size_in_use, requested] = bin->values;
    if (report_.message.bins.size() == kBins) return true;
    report_.message.bins.push_back(
        {from.size.bytes, chunks.count, in_use.count, size.size, size_in_use.size});
    report_.client_requested = *sum_of(report_.client_requested, requested.size);
    report_.size = *sum_of(report_.size, size.size);
    report_.size_in_use = *sum_of(report_.size_in_use, size_in_use.size);
    return true;
  }

  bool read_chunk() {
    static const Pattern kRegion = "Next region of size {size:B}";
    static const Pattern kInUse = "InUse at {*} of size {size:B}";
    static const Pattern kFree = "Free at {*} of size {size:B}";
    static const Pattern kState = "| Requested Size: ";
    static const Pattern kSummary = "Summary of in-use Chunks by size";
    if (const Match region = find(kRegion)) {
      report_.regions_bytes += region->values[0].size.bytes;
      ++report_.regions;
    } else if (const Match used = find(kInUse)) {
      ++report_.in_use;
      report_.chunks_bytes += used->values[0].size.bytes;
    } else if (const Match chunk = find(kFree)) {
      report_.largest_free = std::max(report_.largest_free, chunk->values[0].size.bytes);
    } else if (has(kSummary)) {
      if (report_.chunks == Chunks::begun && report_.regions > 0) report_.chunks = Chunks::complete;
    } else {
      return has(kState);
    }
    return true;
  }

  bool read_total() {
    static const Pattern kSum = "Sum Total of in-use chunks: {size}";
    static const Pattern kSumPlain = "Sum Total of in-use chunks";
    static const Pattern kLimit = "memory_limit_: {size:B}";
    static const Pattern kPool = "Total bytes in pool: {size:B}";
    static const Pattern kPoolSize = "Total size in pool: {size:B}";
    static const Pattern kRegions = "total_region_allocated_bytes_: {size:B}";
    static const Pattern kSummary = "Allocator memory summary:";
    if (has(kSumPlain)) {
      if (!report_.message[Figure::live]) set(Figure::live, kSum);
      return true;
    }
    if (set(Figure::limit, kLimit) || has(kPool) || has(kPoolSize)) {
      return set(Figure::reserved, kPool) || set(Figure::reserved, kPoolSize) ||
             set(Figure::reserved, kRegions) || true;
    }
    if (!has(kSummary)) return false;
    static const Pattern kRequest = "rounded request {size}";
    if (!report_.message[Figure::requested]) set(Figure::requested, kRequest);
    set(Figure::free_inside, "total free in pool {size}");
    set(Figure::largest_free, "usable by lower end {size}");
    set(Figure::reserved, "pool size {size}");
    set(Figure::limit, "pool limit {size}");
    return true;
  }

  bool read_statistic() {
    static const Pattern kLimit = "Limit: {size:B}";
    static const Pattern kPeak = "MaxInUse: {size:B}";
    static const Pattern kInUse = "InUse: {size:B}";
    static const Pattern kLargest = "LargestFreeBlock: {size:B}";
    const auto value = [](const Match& match) {
      return match && !match->values[0].overflows ? match->values[0].size : RoundedBytes{};
    };
    if (const Match limit = find(kLimit)) {
      if (value(limit).bytes > 0) report_.message[Figure::limit] = value(limit);
    } else if (set(Figure::live_peak, kPeak)) {
    } else if (const Match live = find(kInUse)) {
      // The end of "MaxInUse: " where the text begins in it.
      if (!first_ && (live->at == 0 || text_.text[live->at - 1] != 'x')) set(Figure::live, kInUse);
    } else if (const Match largest = find(kLargest)) {
      if (value(largest).bytes > 0)
        report_.message[Figure::largest_free] = value(largest);  // 0 in classic originals
    } else {
      return false;
    }
    return true;
  }

  bool read_request(const Match& request) {
    if (!request || request->values[0].overflows) return false;
    if (report_.request && report_.heading == Heading::none) finish();
    if (!report_.request) report_.request = request->values[0].size;
    if (report_.message[OomWord::allocator].empty())
      report_.message[OomWord::allocator] = allocator();
    return true;
  }

  void finish() {
    if (report_.any) {
      complete();
      const OomMessage& message = report_.message;
      // Statistics of something else, where nothing more is there.
      if (!message[Figure::requested] && !message[Figure::live] && message.bins.empty()) {
        report_ = {};
        return;
      }
      report_.message.kind = "bfc";
      report_.message.detail = "the failure report of a BFC allocator";
      if (report_.only_statistics && !message[Figure::requested]) {
        report_.message.detail = "statistics of a BFC allocator";
        report_.message[OomWord::type] = "statistics";
      }
      found_.push_back({std::move(report_.message), report_.line});
    }
    report_ = {};
  }

  void complete() {
    OomMessage& message = report_.message;
    auto& reserved = message[Figure::reserved];
    if (report_.chunks == Chunks::complete) {
      message[Figure::largest_free] = {report_.largest_free, 0};
      message[Count::live_blocks] = report_.in_use;
      message[Count::segments] = report_.regions;
      // Exact, where totals are rounded.
      auto& live = message[Figure::live];
      reserved = reserved ? more_exact(*reserved, report_.regions_bytes)
                          : RoundedBytes{report_.regions_bytes, 0};
      if (live) live = more_exact(*live, report_.chunks_bytes);
    }
    if (message.bins.size() == kBins) {
      message[Figure::live_requested] = report_.client_requested;
      if (!message[Figure::live]) message[Figure::live] = report_.size_in_use;
      if (!reserved) reserved = report_.size;
    }
    std::erase_if(message.bins, [](const ChunkBin& bin) { return bin.chunks == 0; });
    if (!message[Figure::requested]) message[Figure::requested] = report_.request;
    if (!message[Figure::free_inside]) {
      message[Figure::free_inside] = difference_of(reserved, message[Figure::live]);
    }
  }

  static RoundedBytes more_exact(const RoundedBytes& total, Bytes listed) {
    const Bytes apart = std::max(total.bytes, listed) - std::min(total.bytes, listed);
    return apart <= total.within ? RoundedBytes{listed, 0} : total;
  }

  const PackedText& text_;
  std::vector<FoundMessage>& found_;
  Report report_;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
  std::uint64_t number_ = 0;
  bool first_ = false;
};

void read_reports(const PackedText& text, std::vector<FoundMessage>& found) {
  BfcReports(text, found).read();
}

}  // namespace

// TensorFlow's bfc_allocator.cc of 1.x to 2.x, and tsl's and xla's since: a request, a dump of bins
// and chunks, totals and statistics, in this order, each on lines of their own; totals and
// statistics have units since 2.21.
MessageKind bfc_message() {
  return {.name = "bfc",
          .detail = "the failure report of a BFC allocator",
          .starts = {"ran out of memory trying to allocate", "Ran out of memory trying to allocate",
                     "BFCAllocator dump for", "Bin (", "Bin for ", "Sum Total of in-use",
                     "memory_limit_:", "Limit: {size:B}", "InUse: {size:B}", "InUse at ",
                     "Allocator memory summary:"},
          .harmless = {"this is not a failure"},
          .read = read_reports};
}

}  // namespace memreplay
