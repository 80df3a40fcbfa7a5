#include "report/run/torch_summary.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>

namespace memreplay {
namespace {

using Stats = std::map<std::string_view, std::int64_t>;

struct Unit {
  std::string_view name;
  std::int64_t factor;  ///< so many units of the one before
};
// A number goes on to the next unit from 768 (sizes) or 750 (counts) of it.
constexpr std::array kSizes = {Unit{"B", 1},      Unit{"KiB", 1024}, Unit{"MiB", 1024},
                               Unit{"GiB", 1024}, Unit{"TiB", 1024}, Unit{"PiB", 1024}};
constexpr std::array kCounts = {Unit{" ", 1}, Unit{"K", 1000}, Unit{"M", 1000}};
constexpr std::int64_t kTooManyBytes = 768 * 1024;
constexpr std::int64_t kTooMany = 750 * 1000;

struct SummaryRow {
  std::string_view title;
  std::string_view key;
  bool sizes = false;
  bool pools = true;  ///< followed by the same of the large and the small pools
};
constexpr SummaryRow kMetrics[] = {
    {"Allocated memory", "allocated_bytes", true},
    {"Active memory", "active_bytes", true},
    {"Requested memory", "requested_bytes", true},
    {"GPU reserved memory", "reserved_bytes", true},
    {"Non-releasable memory", "inactive_split_bytes", true},
    {"Allocations", "allocation"},
    {"Active allocs", "active"},
    {"GPU reserved segments", "segment"},
    {"Non-releasable allocs", "inactive_split"},
    {"Oversize allocations", "oversize_allocations", false, false},
    {"Oversize GPU segments", "oversize_segments", false, false},
};
constexpr std::array kColumns = {".current", ".peak", ".allocated", ".freed"};

std::string cell(std::int64_t value, std::int64_t whole, bool sizes) {
  std::string_view unit = sizes ? kSizes[0].name : kCounts[0].name;
  const auto scale = [&](const auto& units, std::int64_t too_many) {
    for (std::size_t i = 1; i < units.size() && whole >= too_many; ++i) {
      whole /= units[i].factor;
      value /= units[i].factor;
      unit = units[i].name;
    }
  };
  if (sizes) {
    scale(kSizes, kTooManyBytes);
    return fmt::format(" {:>6} {:<3} |", value, unit);
  }
  scale(kCounts, kTooMany);
  return fmt::format(" {:>7} {}  |", value, unit);
}

// A column of the pools is in the unit that suits all pools together.
std::string row(std::string_view title, const SummaryRow& metric, std::string_view pool,
                const Stats& stats) {
  std::string line = fmt::format("| {:<21} |", title);
  for (const std::string_view column : kColumns) {
    const auto value = [&](std::string_view of) {
      return stats.at(fmt::format("{}{}{}", metric.key, of, column));
    };
    line += cell(value(pool), value(metric.pools ? ".all" : ""), metric.sizes);
  }
  return line + '\n';
}

bool complete(const Stats& stats) {
  if (!stats.contains("num_ooms") || !stats.contains("num_alloc_retries")) return false;
  for (const SummaryRow& metric : kMetrics) {
    for (const std::string_view pool : {".all", ".large_pool", ".small_pool"}) {
      for (const std::string_view column : kColumns) {
        if (!stats.contains(fmt::format("{}{}{}", metric.key, metric.pools ? pool : "", column))) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> torch_summary(
    const std::vector<std::pair<std::string, std::int64_t>>& named, int gpu) {
  const Stats stats(named.begin(), named.end());
  if (!complete(stats)) return std::nullopt;
  const std::string thick = '|' + std::string(75, '=') + "|\n";
  const std::string thin = '|' + std::string(75, '-') + "|\n";
  std::string out = thick;
  out += fmt::format("|{:18}PyTorch CUDA memory summary, device ID {:<17} |\n", "", gpu) + thin;
  out += fmt::format("|{:12}CUDA OOMs: {:<12} |{:8}cudaMalloc retries: {:<8}  |\n", "",
                     stats.at("num_ooms"), "", stats.at("num_alloc_retries"));
  out += thick;
  out += "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n";
  for (const SummaryRow& metric : kMetrics) {
    out += thin + row(metric.title, metric, metric.pools ? ".all" : "", stats);
    if (!metric.pools) continue;
    out += row("      from large pool", metric, ".large_pool", stats);
    out += row("      from small pool", metric, ".small_pool", stats);
  }
  return out + thick;
}

std::string torch_summaries(const std::vector<TraceRuns>& reports) {
  std::string out;
  for (const TraceRuns& report : reports) {
    for (const Run& run : report.runs) {
      const auto summary = torch_summary(run.metrics.counters, run.gpu);
      const std::string where = reports.size() > 1 ? report.trace.path + ", " : "";
      out += fmt::format("\n {}{}:{}\n", where, run.strategy,
                         summary ? "" : " no summary, it does not keep PyTorch's statistics");
      if (summary) out += *summary;
    }
  }
  return out;
}

}  // namespace memreplay
