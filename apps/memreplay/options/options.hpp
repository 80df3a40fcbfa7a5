#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/cost_model.hpp"
#include "device/real/touch_pattern.hpp"
#include "device/simulated_device.hpp"
#include "options/command_line.hpp"
#include "replay/replay.hpp"
#include "strategy/registry.hpp"
#include "trace/reader.hpp"

namespace memreplay {

struct InputOptions {
  std::vector<std::string> paths;
  ReadOptions read;
  std::optional<int> gpu;
};

/// Where reports go: a path, "-" for standard output, nothing for not at all.
struct ReportOptions {
  std::optional<std::string> json;
  std::optional<std::string> csv;
  std::optional<std::string> markdown;
  bool quiet = false;
};

/// An event number, or a time since the first event.
struct TracePoint {
  std::uint64_t event = 0;
  std::optional<double> seconds;
};

/// A device as --device names it.
struct DeviceChoice {
  enum class Kind { sim, host, cuda };
  Kind kind = Kind::sim;
  int ordinal = 0;  ///< of cuda
  std::string text = "sim";
};

struct RunOptions {
  std::vector<StrategySpec> strategies;
  std::string torch_version;
  std::uint64_t uses = 1;  ///< of a block after it was moved out
  SimulatedDeviceOptions device;
  bool reserve_given = false;
  bool granularity_given = false;
  std::optional<std::string> shape_given;  ///< an option that shapes a simulated device
  std::vector<DeviceChoice> devices;       ///< empty: a simulated one
  std::optional<Touch> touch;              ///< nothing: what is usual on the device
  Bytes scale = 1;                         ///< sizes are divided by it
  bool paced = false;
  std::optional<std::uint64_t> warm_up;  ///< replays before those that count
  CostModel cost;
  std::optional<TracePoint> from;
  std::optional<TracePoint> to;
  StartMode start = StartMode::automatic;
  bool stop_at_oom = false;
  bool ignore_empty_cache = false;
  bool audit = false;
  bool torch_summary = false;
  bool oom_report = false;
  std::uint64_t repeat = 1;
  /// Paths with {n} for the number of the run; empty: not asked for.
  std::string placements;
  std::string device_events;
  std::string segments;
  std::string timeline;
  std::string perfetto;  ///< of all runs; empty: not asked for
  std::uint64_t points = 20'000;
  bool plot = false;
};

void add_input_options(CommandLine& line, InputOptions& options);
void add_report_options(CommandLine& line, ReportOptions& options, bool tables);
/// -s, --alloc-conf, --torch-version.
void add_strategy_options(CommandLine& line, RunOptions& options);
/// The device, a simulated one.
void add_simulated_device_options(CommandLine& line, RunOptions& options);
/// How a recording starts, and which of its calls are left out.
void add_start_options(CommandLine& line, RunOptions& options);
/// A simulated device and what its calls cost.
void add_device_options(CommandLine& line, RunOptions& options);
/// Both, and all else of a replay.
void add_run_options(CommandLine& line, RunOptions& options);

/// Whether a plot is drawn, by --plot and the terminal; `plot` is set when the line is parsed.
void add_plot_option(CommandLine& line, bool& plot);

/// At least one path. Throws UsageError.
void require_paths(const InputOptions& options, const Command& command);

}  // namespace memreplay
