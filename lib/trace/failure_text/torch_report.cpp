#include <algorithm>
#include <array>
#include <string>

#include "core/text.hpp"
#include "trace/failure_text/reports.hpp"
#include "trace/failure_text/told_sizes.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kTried = "out of memory. Tried to allocate ";
constexpr std::string_view kSummary = " memory summary, device ID ";
/// Beyond it the words of one message do not go, however many processes it names.
constexpr std::size_t kLongestMessage = 16 << 10;

// With one blank for whatever separates words: a message is often broken into lines.
std::string joined(std::string_view text) {
  std::string words;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank) words += c;
    if (blank && !words.empty() && words.back() != ' ') words += ' ';
  }
  return words;
}

std::optional<ToldBytes> either(const std::optional<ToldBytes>& a,
                                const std::optional<ToldBytes>& b) {
  return a ? a : b;
}

std::optional<std::uint64_t> gpu_in(std::string_view message) {
  return told_count_behind(message.substr(0, message.find(" total capac")), "GPU ");
}

// "GPU 0 has a total capacity of", "GPU 0; 6.00 GiB total capacity;", with one t up to 2.1
ToldFailure told_by_message(std::string_view message) {
  ToldFailure failure{.source = ToldFailure::Source::torch_message};
  failure.requested = told_size_behind(message, kTried);
  failure.gpu = gpu_in(message);
  failure.device = either(told_size_before(message, " total capacity;"),
                          either(told_size_behind(message, " total capacity of "),
                                 told_size_behind(message, " total capacty of ")));
  failure.device_free =
      either(told_size_before(message, " is free"), told_size_before(message, " free;"));
  failure.process = told_size_behind(message, "this process has ");
  failure.limit = told_size_before(message, " allowed;");
  failure.live = either(told_size_before(message, " is allocated by PyTorch"),
                        told_size_before(message, " already allocated"));
  failure.private_pools = told_size_before(message, " allocated in private pools");
  failure.free_inside = told_size_before(message, " is reserved by PyTorch but unallocated");
  if (!failure.free_inside) failure.free_inside = told_size_before(message, " cached)");
  failure.reserved = told_size_before(message, " reserved in total by PyTorch");
  if (!failure.reserved) failure.reserved = told_sum(failure.live, failure.free_inside);
  if (!failure.free_inside) failure.free_inside = told_difference(failure.reserved, failure.live);
  return failure;
}

/// The first messages of a text, and how many more there are of them.
std::optional<ToldFailure> first_message(std::string_view text) {
  const std::size_t from = text.find(kTried);
  if (from == text.npos) return std::nullopt;
  const std::size_t next = text.find(kTried, from + 1);
  const std::string message = joined(text.substr(from, std::min(next - from, kLongestMessage)));
  ToldFailure failure = told_by_message(message);
  for (std::size_t at = next; at != text.npos; at = text.find(kTried, at + 1)) ++failure.reports;
  return failure;
}

/// The first two figures of a row: now, and at most.
struct ToldRow {
  std::optional<ToldBytes> now;
  std::optional<ToldBytes> most;
};

ToldRow row_of(std::string_view line, std::size_t behind) {
  ToldRow row;
  for (std::optional<ToldBytes>* figure : {&row.now, &row.most}) {
    const std::size_t bar = line.find('|', behind);
    if (bar == line.npos) break;
    const std::size_t at = line.find_first_not_of(' ', bar + 1);
    const std::size_t end = line.find('|', bar + 1);
    if (end == line.npos || at == line.npos) break;
    *figure = told_size_at(line, at);
    if (const auto count = told_count_behind(line.substr(bar, end - bar), "|"); !*figure && count) {
      *figure = ToldBytes{*count, 0};
    }
    behind = end;
  }
  return row;
}

void read_row(std::string_view line, ToldFailure& failure) {
  const auto row = [&](std::string_view label) -> std::optional<ToldRow> {
    const std::size_t at = line.find(label);
    if (at == line.npos) return std::nullopt;
    return row_of(line, at + label.size());
  };
  if (const auto live = row("| Allocated memory ")) {
    failure.live = live->now;
    failure.live_peak = live->most;
  } else if (const auto requested = row("| Requested memory ")) {
    failure.live_requested = requested->now;
  } else if (const auto reserved = row("| GPU reserved memory ")) {
    failure.reserved = reserved->now;
    failure.reserved_peak = reserved->most;
  } else if (const auto kept = row("| Non-releasable memory ")) {
    failure.not_releasable = kept->now;
  } else if (const auto blocks = row("| Allocations ")) {
    if (blocks->now) failure.live_blocks = blocks->now->bytes;
  } else if (const auto segments = row("| GPU reserved segments ")) {
    if (segments->now) failure.segments = segments->now->bytes;
  }
}

/// The tables of a text, the one of that device if there is such a one, else the first.
std::optional<ToldFailure> told_by_table(std::string_view text,
                                         const std::optional<std::uint64_t>& gpu) {
  std::optional<ToldFailure> chosen;
  bool reads = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const bool heads = line.find(kSummary) != line.npos;
    const bool counts = line.find("CUDA OOMs:") != line.npos;
    if (heads || (counts && !chosen)) {
      const auto id = told_count_behind(line, kSummary);
      reads = !chosen || (chosen->gpu != gpu && id == gpu);
      if (reads) chosen = ToldFailure{.source = ToldFailure::Source::torch_summary, .gpu = id};
    }
    if (!chosen && line.find("| Allocated memory ") != line.npos) {
      chosen = ToldFailure{.source = ToldFailure::Source::torch_summary};
      reads = true;
    }
    if (!reads) continue;
    if (counts) {
      chosen->ooms = told_count_behind(line, "CUDA OOMs:");
      chosen->retries = told_count_behind(line, "retries:");
    }
    read_row(line, *chosen);
  }
  return chosen;
}

// The message is of the moment; the table, printed after it, says what else there was.
void add_table(const ToldFailure& table, ToldFailure& failure) {
  failure.ooms = table.ooms;
  failure.retries = table.retries;
  failure.live_peak = table.live_peak;
  failure.reserved_peak = table.reserved_peak;
}

}  // namespace

std::optional<ToldFailure> told_by_torch(std::string_view text) {
  auto message = first_message(text);
  auto table = told_by_table(text, message ? message->gpu : std::nullopt);
  if (table) table->free_inside = told_difference(table->reserved, table->live);
  if (!message) return table;
  if (table && table->gpu == message->gpu) add_table(*table, *message);
  return message;
}

}  // namespace memreplay
