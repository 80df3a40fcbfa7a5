#include "trace/csv/csv_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr std::array<ColumnInfo, kCsvColumns> kColumns = {
    ColumnInfo{
        "op", "operation, action, event, event_type, type, kind, call, function",
        "What happens: a allocate (or alloc, malloc, new, cudaMalloc, +), f free (or dealloc, "
        "delete, release, cudaFree, -), c free completed, where a stream still used the block "
        "after f (or free_completed), e empty the cache (or empty_cache), m marker, s safe "
        "frontier (BFC), o refused request (or allocate failure, oom, or an allocation with a null "
        "id), of size bytes. Frees of null, segment_alloc and the like are counted and left out."},
    ColumnInfo{"id",
               "ptr, pointer, addr, address, buffer, buffer_id, block, block_id, alloc_id, "
               "allocation_id, handle",
               "Number or address of the block, decimal or 0x and hexadecimal; may be reused once "
               "the block is free."},
    ColumnInfo{"size",
               "bytes, nbytes, num_bytes, size_bytes, size_in_bytes, size_b, length, alloc_size, "
               "requested, requested_size, requested_bytes",
               "Bytes of an allocation, a whole number; ignored in a free. In a row s the number "
               "of the frontier."},
    ColumnInfo{"stream", "stream_id, cuda_stream, queue",
               "The stream; a free without one has that of its block. Default: 0."},
    ColumnInfo{"device", "device_id, dev, gpu, gpu_id, device_index",
               "Number of the device; -1 is host memory. Default: 0."},
    ColumnInfo{"pool", "pool_id, heap, arena",
               "A private pool, as N or FIRST:SECOND; a free without one has that of its block."},
    ColumnInfo{"thread", "thread_id, tid", "The thread; a free without one has that of its block."},
    ColumnInfo{"time_us",
               "timestamp_us, ts_us, time_ns, timestamp_ns, ts_ns, time_ms, timestamp_ms, ts_ms, "
               "time_s, timestamp_s, ts_s, seconds, timestamp, time, ts",
               "Recorded time, for reports and --pace recorded, in the unit of the name's ending. "
               "Without such an ending (timestamp, time): seconds if any has a fraction, a clock "
               "such as 09:15:02.25, else microseconds, which ts always is."},
    ColumnInfo{"align", "alignment", "Alignment asked for, a power of two."},
    ColumnInfo{"tag", "label, comment, name, tensor, category",
               "Text of a marker, category of a block."},
    ColumnInfo{"freed_before", "", "BFC: only memory freed before this frontier may be used."},
    ColumnInfo{"end", "", "BFC: upper or lower, in a pool with two ends."},
};

struct OpWord {
  std::string_view word;
  char op;
};
constexpr std::array kOpWords = {
    OpWord{"alloc", 'a'},
    OpWord{"malloc", 'a'},
    OpWord{"allocate", 'a'},
    OpWord{"allocated", 'a'},
    OpWord{"allocation", 'a'},
    OpWord{"calloc", 'a'},
    OpWord{"new", 'a'},
    OpWord{"cudamalloc", 'a'},
    OpWord{"cudamallocasync", 'a'},
    OpWord{"hipmalloc", 'a'},
    OpWord{"hipmallocasync", 'a'},
    OpWord{"free", 'f'},
    OpWord{"freed", 'f'},
    OpWord{"dealloc", 'f'},
    OpWord{"deallocate", 'f'},
    OpWord{"deallocated", 'f'},
    OpWord{"deallocation", 'f'},
    OpWord{"delete", 'f'},
    OpWord{"release", 'f'},
    OpWord{"cudafree", 'f'},
    OpWord{"cudafreeasync", 'f'},
    OpWord{"hipfree", 'f'},
    OpWord{"hipfreeasync", 'f'},
    OpWord{"freerequested", 'f'},
    OpWord{"freecompleted", 'c'},
    OpWord{"emptycache", 'e'},
    OpWord{"marker", 'm'},
    OpWord{"mark", 'm'},
    OpWord{"safefrontier", 's'},
    OpWord{"allocatefailure", kFailedOp},
    OpWord{"allocfailed", kFailedOp},
    OpWord{"mallocfailed", kFailedOp},
    OpWord{"oom", kFailedOp},
    OpWord{"segmentalloc", kDriverOp},
    OpWord{"segmentfree", kDriverOp},
    OpWord{"segmentmap", kDriverOp},
    OpWord{"segmentunmap", kDriverOp},
    OpWord{"snapshot", kDriverOp},
};

/// "Size (bytes)" and "size_bytes" are one name.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      text.push_back(upper ? static_cast<char>(c - 'A' + 'a') : c);
    }
  }
  return text;
}

/// How a column may be called, our own name first.
std::vector<std::string_view> names_of(const ColumnInfo& column) {
  std::vector<std::string_view> names = {column.name};
  for (std::string_view rest = column.aliases; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    names.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return names;
}

struct Meaning {
  CsvColumn column;
  std::size_t rank;       ///< 0: our own name; then by likelihood
  std::string_view name;  ///< ours for it
};

std::optional<Meaning> meaning_of(std::string_view name) {
  const std::string wanted = plain(name);
  for (std::size_t column = 0; column < kCsvColumns; ++column) {
    const auto names = names_of(kColumns[column]);
    const auto found =
        std::ranges::find_if(names, [&](std::string_view known) { return plain(known) == wanted; });
    if (found == names.end()) continue;
    const auto rank = static_cast<std::size_t>(found - names.begin());
    return Meaning{static_cast<CsvColumn>(column), rank, *found};
  }
  return std::nullopt;
}

std::vector<std::string> own_names() {
  std::vector<std::string> names;
  for (const ColumnInfo& column : kColumns) names.emplace_back(column.name);
  return names;
}

class HeaderReading {
 public:
  HeaderReading(const CsvRows& rows, CsvHeader& header) : rows_(rows), header_(header) {
    header_.names.assign(rows.fields().begin(), rows.fields().end());
    for (const std::string& name : header_.names) meanings_.push_back(meaning_of(name));
  }

  void take_by_hand(std::string_view by_hand);
  void take_by_name();
  void require_needed() const;
  void note_what_is_left_out();

 private:
  void take(const Meaning& meaning, std::size_t place);
  void take_by_hand_one(std::string_view assignment);

  const CsvRows& rows_;
  CsvHeader& header_;
  std::vector<std::optional<Meaning>> meanings_;  ///< by field
};

void HeaderReading::take(const Meaning& meaning, std::size_t place) {
  header_.places[meaning.column] = place;
  header_.own &= header_.names[place] == kColumns[meaning.column].name;
  if (meaning.column == kTime) {
    header_.time = csv_time_unit(meaning.name);
  }
}

void HeaderReading::take_by_hand_one(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == assignment.npos || equals == 0 || equals + 1 == assignment.size()) {
    throw UsageError(fmt::format(
        "--columns has '{}'; expected COLUMN=NAME,... such as id=ptr,size=bytes", assignment));
  }
  const std::string_view key = assignment.substr(0, equals);
  const std::string_view name = assignment.substr(equals + 1);
  const auto meaning = meaning_of(key);
  if (!meaning) {
    throw UsageError(fmt::format("--columns: unknown column '{}'{} (memreplay list formats csv)",
                                 key, did_you_mean(key, own_names())));
  }
  if (header_.places[meaning->column]) {
    throw UsageError(fmt::format("--columns: '{}' is there twice", kColumns[meaning->column].name));
  }
  const auto found = std::ranges::find(header_.names, name);
  if (found == header_.names.end()) {
    rows_.fail(fmt::format("--columns takes {} from '{}', which is not in the header: {}", key,
                           name, header_text(header_.names)));
  }
  take(*meaning, static_cast<std::size_t>(found - header_.names.begin()));
}

void HeaderReading::take_by_hand(std::string_view by_hand) {
  while (!by_hand.empty()) {
    const std::size_t comma = std::min(by_hand.find(','), by_hand.size());
    take_by_hand_one(by_hand.substr(0, comma));
    by_hand.remove_prefix(std::min(comma + 1, by_hand.size()));
  }
}

/// Where several names mean one thing, the likeliest counts.
void HeaderReading::take_by_name() {
  for (std::size_t column = 0; column < kCsvColumns; ++column) {
    if (header_.places[column]) continue;
    std::optional<std::size_t> best;
    for (std::size_t place = 0; place < meanings_.size(); ++place) {
      if (!meanings_[place] || meanings_[place]->column != column) continue;
      if (std::ranges::find(header_.places, place) != header_.places.end()) continue;
      if (best && meanings_[*best]->rank == meanings_[place]->rank) {
        rows_.fail_at(place, fmt::format("column {} is named twice", shown(header_.names[place])));
      }
      if (!best || meanings_[place]->rank < meanings_[*best]->rank) best = place;
    }
    if (best) take(*meanings_[*best], *best);
  }
}

void HeaderReading::require_needed() const {
  for (const CsvColumn needed : {kOp, kId}) {
    if (header_.places[needed]) continue;
    const ColumnInfo& column = kColumns[needed];
    rows_.fail(
        fmt::format("the header has no column '{0}': {1}; expected {0} (or {2}), or "
                    "--columns {0}=NAME",
                    column.name, header_text(header_.names), column.aliases));
  }
}

void HeaderReading::note_what_is_left_out() {
  std::string unknown;
  std::size_t count = 0;
  for (std::size_t place = 0; place < header_.names.size(); ++place) {
    if (std::ranges::find(header_.places, place) != header_.places.end()) continue;
    header_.own = false;
    const std::string name = shown(header_.names[place]);
    const auto& meaning = meanings_[place];
    if (!meaning) {
      const std::string meant = did_you_mean(header_.names[place], own_names());
      if (meant.empty()) {
        unknown += (count++ == 0 ? "" : ", ") + name;
      } else {
        header_.notes.push_back(fmt::format("column {} is unknown and left out{}", name, meant));
      }
      continue;
    }
    const std::string_view ours = kColumns[meaning->column].name;
    header_.notes.push_back(
        fmt::format("column {} is left out: {} is used as {} (--columns {}=NAME chooses another)",
                    name, shown(header_.names[*header_.places[meaning->column]]), ours, ours));
  }
  if (count == 1) header_.notes.push_back("column " + unknown + " is unknown and left out");
  if (count > 1) header_.notes.push_back("columns " + unknown + " are unknown and left out");
}

}  // namespace

std::span<const ColumnInfo> csv_columns() { return kColumns; }

std::optional<char> csv_op(std::string_view word) {
  if (word == "+") return 'a';
  if (word == "-") return 'f';
  const std::string wanted = plain(word);
  if (wanted.size() == 1 && std::string_view("afcemso").find(wanted) != std::string_view::npos) {
    return wanted.front();
  }
  const auto found = std::ranges::find(kOpWords, wanted, &OpWord::word);
  return found == kOpWords.end() ? std::nullopt : std::optional(found->op);
}

char csv_separator(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  const std::string_view line = text.substr(0, text.find('\n'));
  char best = ',';
  std::ptrdiff_t most = std::ranges::count(line, best);
  for (const char other : {';', '\t'}) {
    const std::ptrdiff_t count = std::ranges::count(line, other);
    if (count > most) best = other, most = count;
  }
  return best;
}

CsvHeader read_csv_header(const CsvRows& rows, std::string_view by_hand) {
  CsvHeader header;
  HeaderReading reading(rows, header);
  reading.take_by_hand(by_hand);
  reading.take_by_name();
  reading.require_needed();
  reading.note_what_is_left_out();
  return header;
}

}  // namespace memreplay
