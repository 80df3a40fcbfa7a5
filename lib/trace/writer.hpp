#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_sink.hpp"
#include "trace/trace.hpp"
#include "trace/value_writer.hpp"

namespace memreplay {

/// What a file does not hold of what was written to it, a phrase each.
using Losses = std::vector<std::string>;

/// How a format that can be written registers itself (writers.def).
struct WriterInfo {
  std::string_view format;  ///< as it is asked for: "csv"
  std::string_view name;    ///< for messages: "CSV"
  std::string_view suffix;  ///< ends its files' names: ".csv"; the first format with it is meant
  bool needs_addresses = true;  ///< in every trace, and the state at its end
  bool one_device = false;      ///< a recording must have one trace
  bool for_stdout = false;      ///< what "-" is written in; of one format
  Losses (*write)(const Recording&, std::ostream&) = nullptr;
  /// Begins a file that is written as its events come; null where a writer needs them all.
  std::unique_ptr<EventSink> (*open)(std::ostream&) = nullptr;
  /// Writes the plain value that `content` hands on; null where the format has no form for it.
  Losses (*write_value)(const std::function<void(ValueWriter&)>& content, std::ostream&) = nullptr;
};

/// Every registered writer, in the order of writers.def.
std::span<const WriterInfo> writers();

/// By the end of the path; "-" is standard output. Throws UsageError where no format has that end.
const WriterInfo& writer_for(const std::string& path);

/// By its name. Throws UsageError with the nearest.
const WriterInfo& writer_named(const std::string& format);

/// "pickle|json|csv"
std::string writable_formats();

/// "NAME.pickle or NAME.json": files that hold addresses.
std::string files_with_addresses();

/// What a log of allocations and frees has a place for, beside their sizes.
struct LogPlaces {
  bool streams = false;
  bool threads = false;
  bool times = false;
  bool alignments = false;
  bool refusals = false;
  bool last_ends = true;  ///< blocks that outlive the last request may end one by one, or never
  /// Requests of no bytes, delayed frees, markers, emptied caches, safe frontiers, pools, tags.
  bool all_calls = false;
};

/// What such a log leaves out of the only trace of a recording, with counts, as one phrase. `log`:
/// "an RMM log". O(events).
Losses left_out_of(const Recording& recording, std::string_view log, LogPlaces has);

/// Events that request a free which never completes: the block stays in use. Ascending.
std::vector<std::size_t> unfinished_frees(const Trace& trace);

}  // namespace memreplay
