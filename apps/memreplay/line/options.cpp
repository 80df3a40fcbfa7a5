#include "line/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "line/last_words.hpp"
#include "line/output_file.hpp"
#include "line/shared_options.hpp"
#include "line/terminal.hpp"
#include "run/cost_profile.hpp"
#include "run/rank_files.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

constexpr const char* kInput = "Input";
constexpr const char* kAsked = "General";
constexpr const char* kDevice = "Device";
constexpr const char* kOutput = "Output";

constexpr std::uint64_t kFewestPoints = 4;
constexpr std::uint64_t kMostPoints = 1'000'000'000;

// No output replaces a recording that a folder holds; other files of it may be written again.
std::vector<std::string> recordings_in(const std::string& path) {
  std::vector<std::string> files = files_in(path);
  std::erase_if(files,
                [&](const std::string& file) { return file != path && !seems_a_recording(file); });
  return files;
}

TracePoint point_argument(const std::string& option, const std::string& text) {
  if (!text.empty() && text.back() == 's') {
    return {0, number_argument(option, text.substr(0, text.size() - 1))};
  }
  return {whole_argument(option, text), std::nullopt};
}

void add_replay_options(CommandLine& line, ReplayQuestion& o) {
  const CommandLine::Group group(line, kAsked);
  line.value("--from", "N|Ns", "First event, or second, to measure. Default: 0.",
             [&o](const std::string& text) { o.setup.from = point_argument("--from", text); });
  line.value("--to", "N|Ns", "Stop before this event, or second. Default: the end.",
             [&o](const std::string& text) { o.setup.to = point_argument("--to", text); });
  line.value("--repeat", "N", "Replay N times and show the median time. Default: 1.",
             [&o](const std::string& text) {
               o.setup.repeat = whole_argument("--repeat", text);
               if (o.setup.repeat == 0) throw UsageError("--repeat is 0; expected 1 or more");
             });
  const CommandLine::Group rare(line, kAsked, Shown::in_help_all);
  line.value("--on-oom", "continue|stop",
             "What to do after a request that is not served. Default: continue.",
             [&o](const std::string& text) {
               o.setup.stop_at_oom = choice_argument("--on-oom", text, {"continue", "stop"}) == 1;
             });
  line.value("--uses", "N", "How often a moved block is used before its free. Default: 1.",
             [&o](const std::string& text) { o.setup.uses = whole_argument("--uses", text); });
  line.flag("--audit", "Check every placement for overlap, bounds and alignment. Default: off.",
            o.setup.audit);
  line.value(
      "--warm-up", "N", "Replays before the timed ones. Default: 1 with --repeat.",
      [&o](const std::string& text) { o.setup.warm_up = whole_argument("--warm-up", text); });
}

void add_output_options(CommandLine& line, RunPaths& paths, ReplayQuestion& o) {
  const CommandLine::Group group(line, kOutput);
  line.output("--placements", "F", "A CSV row per event; {n} in F is the run's number.",
              paths.placements);
  line.output("--timeline", "F", "The curves, a CSV row per event.", paths.timeline);
  line.output("--device-events", "F", "A CSV row per call to the device.", paths.device_events);
  line.output("--segments", "F", "A CSV row per segment at the end.", paths.segments);
  line.output("--perfetto", "F", "A Chrome trace of all runs, by time or event.", paths.perfetto);
  const CommandLine::Group rare(line, kOutput, Shown::in_help_all);
  line.value("--points", "N", "Most points per curve in the Chrome trace. Default: 20000.",
             [&paths](const std::string& text) {
               paths.points = whole_argument("--points", text);
               if (paths.points < kFewestPoints || paths.points > kMostPoints) {
                 throw UsageError(fmt::format("--points is {}; expected {} to {}", text,
                                              kFewestPoints, kMostPoints));
               }
             });
  line.flag("--torch-summary", "Also print what torch.cuda.memory_summary() would. Default: off.",
            o.torch_summary);
  line.flag("--oom-report",
            "Also print the original allocator's report of the first OOM. Default: off.",
            o.setup.oom_report);
}

Bytes scale_argument(const std::string& text) {
  const auto divisor = text.starts_with("1/") ? parse_whole(text.substr(2)) : std::nullopt;
  if (text == "1") return 1;
  if (divisor && *divisor > 0) return *divisor;
  throw UsageError(fmt::format("--scale is '{}'; expected 1/N with a whole N, such as 1/16", text));
}

void add_real_device_options(CommandLine& line, ReplayQuestion& o) {
  const CommandLine::Group group(line, kDevice);
  line.repeated(
      "--device", "sim|host|cuda[:N]", "What to replay on; may be repeated. Default: sim.",
      [&o](const std::string& text) { o.setup.devices.push_back(device_argument(text)); });
  const CommandLine::Group rare(line, kDevice, Shown::in_help_all);
  line.value(
      "--touch", "none|edges|all",
      "Write each block and compare it when freed. Default: none; host: edges.",
      [&o](const std::string& text) {
        constexpr std::array kTouches = {Touch::none, Touch::edges, Touch::all};
        o.setup.touch = kTouches.at(choice_argument("--touch", text, {"none", "edges", "all"}));
      });
  line.value("--scale", "1/N", "Divide every size by N, to fit a smaller device. Default: 1/1.",
             [&o](const std::string& text) { o.setup.scale = scale_argument(text); });
  line.value("--pace", "full|recorded",
             "As fast as possible, or at the recorded pace. Default: full.",
             [&o](const std::string& text) {
               o.setup.paced = choice_argument("--pace", text, {"full", "recorded"}) == 1;
             });
}

void add_device_shape(CommandLine& line, ReplayQuestion& o) {
  // Said before anything is read.
  line.check([&o] { o.setup.simulated(); });
  const CommandLine::Group group(line, kDevice);
  line.value("--capacity", "SIZE|none",
             "Memory of the device. Default: that of a recorded failure, else no limit.",
             [&o](const std::string& text) {
               o.setup.endless = text == "none";
               o.setup.capacity.reset();
               if (!o.setup.endless) o.setup.capacity = size_argument("--capacity", text);
             });
  line.value("--reserve", "SIZE", "Memory of the device that others hold. Default: 0.",
             [&o](const std::string& text) { o.setup.reserve = size_argument("--reserve", text); });
  const CommandLine::Group rare(line, kDevice, Shown::in_help_all);
  line.value("--granularity", "SIZE",
             "The device gives memory in multiples of this. Default: 2MiB.",
             [&o](const std::string& text) {
               o.setup.granularity = size_argument("--granularity", text);
               if (o.setup.granularity == 0) {
                 throw UsageError("--granularity is 0; expected 1 or more");
               }
             });
  line.value(
      "--address-policy", "auto|cuda-linux|upward|downward|first-fit",
      "Order of addresses: as recorded, as NVIDIA's driver, never reused, as a host maps "
      "memory, or lowest free. Default: auto.",
      [&o](const std::string& text) {
        constexpr std::array kPolicies = {AddressPolicy::automatic, AddressPolicy::cuda_linux,
                                          AddressPolicy::upward, AddressPolicy::downward,
                                          AddressPolicy::first_fit};
        const auto policy = kPolicies.at(choice_argument(
            "--address-policy", text, {"auto", "cuda-linux", "upward", "downward", "first-fit"}));
        o.setup.address_policy.reset();
        if (policy != AddressPolicy::automatic) o.setup.address_policy = policy;
      });
  line.value("--address-gap", "SIZE", "Unused addresses after each region. Default: 0.",
             [&o](const std::string& text) {
               o.setup.address_gap = size_argument("--address-gap", text);
             });
  line.value("--address-space", "SIZE",
             "Size of the address space; an expandable segment reserves 9/8 of the device in it. "
             "Default: no limit.",
             [&o](const std::string& text) {
               o.setup.address_space = size_argument("--address-space", text);
               if (o.setup.address_space == 0) {
                 throw UsageError("--address-space is 0; expected the size of an address space");
               }
             });
}

/// "4GiB@event:1000..2000", "4GiB@1000..": the word may be left out.
OtherTenant tenant_argument(const std::string& text) {
  constexpr std::string_view kOption = "--other-tenant";
  const std::string option(kOption);
  const std::size_t at = std::min(text.find('@'), text.size());
  std::string_view events = std::string_view(text).substr(std::min(at + 1, text.size()));
  if (events.starts_with("event:")) events.remove_prefix(6);
  const std::size_t dots = events.find("..");
  if (dots == events.npos) {
    throw UsageError(fmt::format("{} is '{}'; expected SIZE@event:FROM..TO or SIZE@event:FROM..",
                                 kOption, text));
  }
  OtherTenant tenant{.size = size_argument(option, text.substr(0, at)),
                     .from = whole_argument(option, std::string(events.substr(0, dots)))};
  const std::string to(events.substr(dots + 2));
  if (!to.empty()) tenant.to = whole_argument(option, to);
  if (tenant.from < tenant.to) return tenant;
  throw UsageError(fmt::format("{} is '{}'; expected TO greater than FROM", kOption, text));
}

void add_tenant_option(CommandLine& line, ReplayQuestion& o) {
  const CommandLine::Group group(line, kDevice, Shown::in_help_all);
  line.repeated(
      "--other-tenant", "SIZE@event:FROM..TO",
      "Memory that another process holds from one event until another. May be repeated.",
      [&o](const std::string& text) { o.setup.tenants.push_back(tenant_argument(text)); });
}

void add_cost_options(CommandLine& line, ReplayQuestion& o) {
  const CommandLine::Group group(line, kDevice, Shown::in_help_all);
  line.input(
      "--cost", "F",
      "Cost of device calls, a file written by calibrate. Default: --malloc-ms and --free-ms.",
      [&o](const std::string& text) { o.setup.cost = read_cost_profile(text); });
  line.value("--malloc-ms", "MS", "Modelled cost of a device allocation. Default: 1.",
             [&o](const std::string& text) {
               o.setup.cost.alloc = o.setup.cost.map =
                   CostCurve(number_argument("--malloc-ms", text));
             });
  line.value("--free-ms", "MS", "Modelled cost of a device free. Default: 0.8.",
             [&o](const std::string& text) {
               o.setup.cost.free = o.setup.cost.unmap =
                   CostCurve(number_argument("--free-ms", text));
             });
}

}  // namespace

void add_input_options(CommandLine& line, InputOptions& o) {
  const CommandLine::Group group(line, kInput);
  line.inputs("TRACE", o.paths);
  line.expand_inputs(recordings_in);
  line.value("--gpu", "N|host", "Only this device, or pinned or managed memory. Default: all.",
             [&o](const std::string& text) {
               if (text == "host" || text == "-1") {
                 o.gpu = kHostMemory;
                 o.read.host = true;
                 return;
               }
               if (text == "pinned" || text == "managed") {
                 o.gpu = text == "pinned" ? kPinnedMemory : kManagedMemory;
                 return;
               }
               const auto gpu = parse_whole(text);
               if (!gpu || *gpu > 1 << 20) {
                 throw UsageError("--gpu is '" + text +
                                  "'; expected a device's number, host, pinned or managed");
               }
               o.gpu = static_cast<int>(*gpu);
             });
  const CommandLine::Group rare(line, kInput, Shown::in_help_all);
  line.value("--format", "FORMAT", "Format of the recording. Default: recognised.",
             [&o](const std::string& text) { o.read.format = text; });
  line.value("--columns", "ID=NAME,...",
             "Names of a CSV's columns: id=ptr,size=n. Default: see list formats csv.",
             [&o](const std::string& text) {
               if (text.empty()) throw UsageError("--columns is empty; expected COLUMN=NAME,...");
               o.read.columns = text;
             });
  line.value("--process", "NAME|all",
             "Which process of a log, by the name it has there. Default: the first.",
             [&o](const std::string& text) {
               if (text.empty()) throw UsageError("--process is empty; expected a name, or all");
               o.read.process = text;
             });
  o.read.note = [](const std::string& what) { write_stderr(what); };
  if (CommandHost* from = command_host()) {
    o.read.at_hand = [from](const std::string& path) { return from->at_hand(path); };
  }
  line.value("--reader", "native|python", "Which reader to use for pickles. Default: native.",
             [&o](const std::string& text) {
               o.read.python_reader = choice_argument("--reader", text, {"native", "python"}) == 1;
             });
}

void add_together_options(CommandLine& line, InputOptions& o) {
  const CommandLine::Group group(line, kInput);
  line.flag("--together", "Replay the recordings as processes that share one device.", o.together);
  const CommandLine::Group rare(line, kInput, Shown::in_help_all);
  line.value(
      "--order", "recorded|start|share",
      "How their events interleave: at the recorded times, with all starts at time 0, or each at "
      "the same share of its events. Default: recorded times if they overlap.",
      [&o](const std::string& text) {
        constexpr std::array kOrders = {TogetherOrder::recorded, TogetherOrder::start,
                                        TogetherOrder::share};
        o.order = kOrders.at(choice_argument("--order", text, {"recorded", "start", "share"}));
      });
}

void add_edit_option(CommandLine& line, InputOptions& o) {
  const CommandLine::Group group(line, kInput);
  line.repeated("--edit", "VERB:KEY=VALUE,...",
                "Change the program: checkpoint, offload, autocast, scale, drop, shorten, "
                "dtype.",
                [&o](const std::string& text) {
                  check_edit(text);
                  o.edits.push_back(text);
                });
}

bool ReportOptions::takes_stdout() const {
  return std::ranges::any_of(files, &OutputPath::is_stdout, &File::path);
}

void add_quiet_option(CommandLine& line, bool& quiet) {
  const CommandLine::Group group(line, kOutput);
  line.flag("--quiet,-q", "No progress, no word on the file. Default: off.", quiet);
}

void add_colour_option(CommandLine& line, Colour& colour) {
  const CommandLine::Group group(line, kOutput);
  line.value("--color", "auto|always|never",
             "Colour the text. Default: auto, on a terminal unless NO_COLOR is set.",
             [&colour](const std::string& text) {
               constexpr std::array kColours = {Colour::automatic, Colour::always, Colour::never};
               colour = kColours.at(choice_argument("--color", text, {"auto", "always", "never"}));
             });
}

void add_report_options(CommandLine& line, ReportOptions& o, Has has) {
  const CommandLine::Group group(line, kOutput);
  for (const ReportFormat& format : report_formats()) {
    using Needs = ReportFormat::Needs;
    if (format.needs == Needs::table && has == Has::text) continue;
    if (format.needs == Needs::stacks && has != Has::stacks) continue;
    line.optional_file(std::string(format.option), std::string(format.sentence),
                       [&o, &format](const OutputPath& path) {
                         o.files.push_back({&format, path});
                       });
  }
  line.flag("--quiet,-q", "No text, no progress. Default: off.", o.quiet);
  add_colour_option(line, o.colour);
}

void add_writer_option(CommandLine& line, const WriterInfo*& writer) {
  const CommandLine::Group group(line, kOutput);
  line.value("--to", writable_formats(), "Format of OUT. Default: from its file name.",
             [&writer](const std::string& text) { writer = &writer_named(text); });
}

void add_strategy_options(CommandLine& line, ReplayQuestion& o) {
  const CommandLine::Group group(line, kAsked);
  line.repeated("-s,--strategy", "S", "NAME or NAME:key=value,... May be repeated.",
                [&o](const std::string& text) { o.strategies.push_back(parse_strategy(text)); });
  line.repeated(
      "--alloc-conf", "CONF", "A PYTORCH_CUDA_ALLOC_CONF; short for -s torch:...",
      [&o](const std::string& text) { o.strategies.push_back(torch_spec_from_conf(text)); });
  line.value(
      "--torch-version", "X.Y.Z",
      "Rules of this PyTorch release. Default: the recording's, if it shows one; else the newest.",
      [&o](const std::string& text) { o.setup.release = text; });
}

void add_start_options(CommandLine& line, ReplayQuestion& o) {
  const CommandLine::Group group(line, kInput, Shown::in_help_all);
  line.value("--start", "auto|cold",
             "auto: with the blocks from before the recording; cold: without. Default: auto.",
             [&o](const std::string& text) {
               o.setup.start = choice_argument("--start", text, {"auto", "cold"}) == 1
                                   ? StartMode::cold
                                   : StartMode::automatic;
             });
  line.flag("--ignore-empty-cache",
            "Replay as if the program never called empty_cache. Default: off.",
            o.setup.ignore_empty_cache);
}

void add_simulated_device_options(CommandLine& line, ReplayQuestion& o) {
  const CommandLine::Group group(line, kDevice, Shown::in_help_all);
  line.value("--device", "sim", "What to replay on. Default: sim.", [](const std::string& text) {
    if (device_argument(text).kind == DeviceChoice::Kind::sim) return;
    throw UsageError(
        fmt::format("--device is '{}'; this command answers by simulation only, real memory is for "
                    "replay, compare and calibrate",
                    text));
  });
  add_device_shape(line, o);
}

void add_device_options(CommandLine& line, ReplayQuestion& o) {
  add_simulated_device_options(line, o);
  add_cost_options(line, o);
}

void add_run_options(CommandLine& line, ReplayQuestion& o, RunPaths& paths) {
  add_strategy_options(line, o);
  add_real_device_options(line, o);
  add_device_shape(line, o);
  add_tenant_option(line, o);
  add_cost_options(line, o);
  add_start_options(line, o);
  add_replay_options(line, o);
  add_output_options(line, paths, o);
}

void add_plot_option(CommandLine& line, bool& plot, const std::string& curves) {
  const CommandLine::Group group(line, kOutput);
  plot = stdout_is_terminal();
  line.value("--plot", "auto|always|never", curves + " as a plot. Default: auto, on a terminal.",
             [&plot](const std::string& text) {
               const auto choice = choice_argument("--plot", text, {"auto", "always", "never"});
               plot = choice == 1 || (choice == 0 && stdout_is_terminal());
             });
}

void require_any_path(const InputOptions& options, const Command& command) {
  if (options.paths.empty()) {
    throw UsageError(
        fmt::format("which recording? (memreplay {} {})", command.name, command.arguments));
  }
  if (options.paths.size() == 1) set_recording(options.paths.front());
}

void require_paths(InputOptions& options, const Command& command) {
  if (options.order && !options.together) throw UsageError("--order goes with --together");
  std::vector<std::string> files;
  for (const std::string& path : options.paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    const RankFiles found = rank_files({path});
    if (found.files.empty()) {
      throw UsageError(fmt::format("{}: no recording in it; expected at least one", path));
    }
    for (const RankFile& file : found.files) files.push_back(file.path);
  }
  options.paths = std::move(files);
  require_any_path(options, command);
}

}  // namespace memreplay
