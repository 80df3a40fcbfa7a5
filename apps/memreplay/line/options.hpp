#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "line/command_line.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"
#include "report/formats/format.hpp"
#include "run/question.hpp"
#include "trace/writer.hpp"

namespace memreplay {

/// Which reports are to be written beside the text, and where.
struct ReportOptions {
  struct File {
    const ReportFormat* format;
    OutputPath path;
  };
  std::vector<File> files;  ///< in the order of the formats, one of each at most
  bool quiet = false;
  Colour colour = Colour::automatic;

  /// One of them goes to standard output, where the text would be in the way.
  bool takes_stdout() const;
};

/// What a command's answer has, for the formats that are made from it: the text alone, a table too,
/// memory by stacks too.
enum class Has { text, table, stacks };

/// Which files runs write while they are made, and what is drawn of them.
struct RunPaths {
  /// One file for each run.
  OutputPath placements;
  OutputPath device_events;
  OutputPath segments;
  OutputPath timeline;
  OutputPath perfetto;  ///< one file for all runs
  std::uint64_t points = 20'000;
  bool plot = false;
};

void add_input_options(CommandLine& line, InputOptions& options);
/// --together and --order: several processes on one device.
void add_together_options(CommandLine& line, InputOptions& options);
/// --edit: what is another in the program.
void add_edit_option(CommandLine& line, InputOptions& options);
void add_report_options(CommandLine& line, ReportOptions& options, Has has = Has::table);
/// --to: of a file that is written; null where it was not given.
void add_writer_option(CommandLine& line, const WriterInfo*& writer);
/// -q, of a command that writes a file.
void add_quiet_option(CommandLine& line, bool& quiet);
/// --color.
void add_colour_option(CommandLine& line, Colour& colour);
/// -s, --alloc-conf, --torch-version.
void add_strategy_options(CommandLine& line, ReplayQuestion& question);
/// The device, a simulated one.
void add_simulated_device_options(CommandLine& line, ReplayQuestion& question);
/// How a recording starts, and which of its calls are left out.
void add_start_options(CommandLine& line, ReplayQuestion& question);
/// A simulated device and what its calls cost.
void add_device_options(CommandLine& line, ReplayQuestion& question);
/// Strategies, devices, costs and files: all options of `replay` and `compare`.
void add_run_options(CommandLine& line, ReplayQuestion& question, RunPaths& paths);

/// Whether `curves` are drawn, by --plot and the terminal; `plot` is set when the line is parsed.
void add_plot_option(CommandLine& line, bool& plot, const std::string& curves = "The curves");

/// At least one path. Throws UsageError. A single one is named where memory runs out.
void require_any_path(const InputOptions& options, const Command& command);
/// As require_any_path; folders become the recordings in them, by ascending rank.
void require_paths(InputOptions& options, const Command& command);

}  // namespace memreplay
