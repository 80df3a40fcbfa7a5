#include "questions/replay/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/table.hpp"

namespace memreplay {
namespace {

std::string duration(double ns) {
  if (ns < 10'000) return fmt::format("{:.0f} ns", ns);
  if (ns < 10'000'000) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 10'000'000'000) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.1f} s", ns / 1e9);
}

std::string ratio(Bytes part, Bytes whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(part) / static_cast<double>(whole));
}

/// What the system calls the memory that a replay took.
std::string used_word(const Run& run) { return run.device.kind == "host" ? "RSS" : "driver's"; }

std::string faults(const MeasuredMemory& memory) {
  return memory.minor_faults ? human_count(*memory.minor_faults + memory.major_faults.value_or(0))
                             : "-";
}

using Stats = std::map<std::string_view, std::int64_t>;

struct Unit {
  std::string_view name;
  std::int64_t factor;  ///< so many units of the one before
};
// A number goes on to the next unit from 768 (sizes) or 750 (counts) of it.
constexpr std::array kSizeUnits = {Unit{"B", 1},      Unit{"KiB", 1024}, Unit{"MiB", 1024},
                                   Unit{"GiB", 1024}, Unit{"TiB", 1024}, Unit{"PiB", 1024}};
constexpr std::array kCountUnits = {Unit{" ", 1}, Unit{"K", 1000}, Unit{"M", 1000}};
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
  std::string_view unit = sizes ? kSizeUnits[0].name : kCountUnits[0].name;
  const auto scale = [&](const auto& units, std::int64_t too_many) {
    for (std::size_t i = 1; i < units.size() && whole >= too_many; ++i) {
      whole /= units[i].factor;
      value /= units[i].factor;
      unit = units[i].name;
    }
  };
  if (sizes) {
    scale(kSizeUnits, kTooManyBytes);
    return fmt::format(" {:>6} {:<3} |", value, unit);
  }
  scale(kCountUnits, kTooMany);
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

std::string mean_text(const Durations& times) {
  if (times.count() == 0) return "-";
  return duration(static_cast<double>(times.sum()) / static_cast<double>(times.count()));
}

std::string quantile_text(const Durations& times, double share) {
  return times.count() == 0 ? "-" : duration(static_cast<double>(times.quantile(share)));
}

std::string measured_table(const TraceRuns& report, std::size_t width) {
  std::vector<const Run*> measured;
  for (const Run& run : report.runs) {
    if (run.metrics.real && run.metrics.times) measured.push_back(&run);
  }
  if (measured.empty()) return {};
  const bool has_faults = std::ranges::any_of(
      measured, [](const Run* run) { return run->metrics.real->memory.minor_faults.has_value(); });
  Table table{{left("measured"), "requested", used_word(*measured.front()), "ratio"}};
  if (has_faults) table.columns.emplace_back("faults");
  for (const char* title : {"per op", "p50", "p99", "max", "strategy"}) {
    table.columns.emplace_back(title);
  }
  for (const Run* run : measured) {
    const RunMetrics& m = run->metrics;
    const Bytes used = m.real->memory.peak_used;
    std::vector<std::string> row = {run->name(), human_size(m.peak_requested), human_size(used),
                                    ratio(used, m.peak_requested)};
    if (has_faults) row.push_back(faults(m.real->memory));
    const Durations& ops = m.times->ops;
    for (std::string cell : {mean_text(ops), quantile_text(ops, 0.5), quantile_text(ops, 0.99),
                             quantile_text(ops, 1), mean_text(m.times->strategy)}) {
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  return text_table(table, width);
}

std::string calls_table(const Run& run, std::size_t width) {
  if (!run.metrics.real || !run.metrics.times) return {};
  Table table{{left("driver call"), "count", "mean", "p50", "p99", "max", "together"}};
  const TimesByKind& calls = run.metrics.times->calls;
  const bool has_device_clock =
      std::ranges::any_of(calls, [](const CallTimes& call) { return call.device.count() != 0; });
  if (has_device_clock) table.columns.emplace_back("by its clock");
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    const Durations& host = calls[kind].host;
    if (host.count() == 0) continue;
    table.add(name_of(static_cast<CallKind>(kind)), human_count(host.count()), mean_text(host),
              quantile_text(host, 0.5), quantile_text(host, 0.99), quantile_text(host, 1),
              duration(static_cast<double>(host.sum())));
    if (has_device_clock) table.rows.back().back() = mean_text(calls[kind].device);
  }
  return table.rows.empty() ? std::string() : text_table(table, width);
}

std::string agreement_phrase(const Run& run) {
  if (!run.agreement) return {};
  const Agreement& agreed = *run.agreement;
  if (!agreed.first_difference) {
    return fmt::format("{} and {} hold the same bytes after each of {}", agreed.with,
                       run.device.text, counted(agreed.events, "event"));
  }
  const Agreement::Difference& d = *agreed.first_difference;
  return fmt::format(
      "{} and {} diverge at event {}: {} allocated and {} reserved on the first, {} and {} on the "
      "second",
      agreed.with, run.device.text, human_count(d.event), exact_size(d.other_allocated),
      exact_size(d.other_reserved), exact_size(d.allocated), exact_size(d.reserved));
}

std::vector<std::string> real_phrases(const Run& run) {
  if (!run.metrics.real) return {};
  const RealUse& real = *run.metrics.real;
  std::vector<std::string> phrases;
  if (real.touched.filled != 0) {
    phrases.push_back(fmt::format(
        "{} ({}) written on {}, {} compared when freed or at the end; none had been overwritten",
        counted(real.touched.filled, "block"), human_size(real.touched.filled_bytes),
        run.device.text, human_count(real.touched.checked)));
  }
  if (real.not_adopted != 0) {
    phrases.push_back(fmt::format("{} from before the recording did not fit on {}",
                                  counted(real.not_adopted, "segment"), run.device.text));
  }
  return phrases;
}

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
