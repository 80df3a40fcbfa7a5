#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "options/command_line.hpp"
#include "output/terminal.hpp"
#include "report/parts/text_style.hpp"

/// The Model Context Protocol over standard input and output: a message a line, JSON-RPC 2.0.
/// https://modelcontextprotocol.io/specification
namespace memreplay {
namespace {

namespace fs = std::filesystem;
using McpJson = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kProtocols = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                        "2024-11-05"};
/// An answer is cut there: figures take a token for two or three characters, 2,000 in all.
constexpr std::size_t kMostCharacters = 4500;
constexpr int kDeepest = 32;
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;

constexpr const char* kInstructions =
    "memreplay answers from a recording of GPU memory (torch.cuda.memory._dump_snapshot, .pickle) "
    "or from a log with an out-of-memory message. After an out-of-memory error call explain, then "
    "tune; both need only the file. Without a recording, write one: memreplay record -o run.pickle "
    "-- python train.py.";

struct Parameter {
  enum class Kind { file, folder, text, number, texts };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view option;  ///< the command's; empty: it stands alone
  std::string_view description;
};

/// A command that clients may ask, with what they may set of it.
struct Tool {
  std::string_view command;
  std::string_view description;
  std::vector<Parameter> parameters;  ///< the first is required
  std::vector<std::string> always;    ///< arguments that it always has
};

const std::vector<Tool>& tools() {
  using Kind = Parameter::Kind;
  static const Parameter kTrace{"trace", Kind::file, "", "Path of the recording."};
  static const Parameter kCapacity{"capacity", Kind::text, "--capacity",
                                   "Memory of the device, such as 24GiB; none: no limit. Default: "
                                   "that of the recorded failure."};
  static const std::vector<Tool> kTools = {
      {"explain",
       "Why did the GPU run out of memory: fragmentation or shortage, what holds the memory, and "
       "which line of code. Also reads logs with out-of-memory messages.",
       {kTrace,
        {"at", Kind::text, "--at",
         "oom, peak, reserved-peak or an event. Default: oom, else peak."},
        kCapacity},
       {"--top=5"}},
      {"tune",
       "Which PYTORCH_CUDA_ALLOC_CONF avoids the failure or reserves least, as a line to paste.",
       {kTrace,
        {"seconds", Kind::number, "--seconds",
         "Start no more replays after this many seconds. Default: 20."},
        kCapacity},
       {"--seconds=20"}},
      {"fit",
       "The smallest device on which the recorded program runs, or whether named cards suffice.",
       {kTrace,
        {"cards", Kind::text, "--device-name", "Cards to judge, such as T4,a100-40gb."},
        {"capacity", Kind::text, "--capacity", "A size to judge, such as 24GiB."}},
       {}},
      {"compare",
       "Peaks and failures under several allocator settings side by side.",
       {kTrace,
        {"settings", Kind::texts, "--alloc-conf",
         "Values of PYTORCH_CUDA_ALLOC_CONF. Default: the usual choices."},
        kCapacity},
       {}},
      {"ranks",
       "Recordings of many ranks: which ran out of memory or needs most, and where one diverges.",
       {{"folder", Kind::folder, "", "Folder with one recording of each rank."}, kCapacity},
       {}},
      {"info",
       "What a recording covers (events, peaks, failures, settings), and whether it can be "
       "trusted.",
       {kTrace},
       {}},
  };
  return kTools;
}

McpJson schema_of(const Parameter& parameter) {
  using Kind = Parameter::Kind;
  McpJson schema{{"type", parameter.kind == Kind::number  ? "integer"
                          : parameter.kind == Kind::texts ? "array"
                                                          : "string"}};
  if (parameter.kind == Kind::number) schema["minimum"] = 1;
  if (parameter.kind == Kind::texts) schema["items"] = {{"type", "string"}};
  schema["description"] = parameter.description;
  return schema;
}

McpJson listed(const Tool& tool) {
  McpJson properties = McpJson::object();
  for (const Parameter& parameter : tool.parameters) {
    properties[std::string(parameter.name)] = schema_of(parameter);
  }
  return {{"name", tool.command},
          {"description", tool.description},
          {"inputSchema",
           {{"type", "object"},
            {"properties", properties},
            {"required", {tool.parameters.front().name}},
            {"additionalProperties", false}}},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

/// The folders in which files may be read.
class AllowedFolders {
 public:
  explicit AllowedFolders(const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      std::error_code error;
      folders_.push_back(fs::canonical(folder, error));
      if (error || !fs::is_directory(folders_.back(), error)) {
        throw UsageError(fmt::format("{} is not a folder", folder));
      }
    }
  }

  /// The file, or folder, without links on the way; names are from the first folder on. Throws
  /// UsageError for what is not there, or elsewhere.
  std::string allowed(const std::string& name, bool folder) const {
    std::error_code error;
    const fs::path path = fs::canonical(folders_.front() / name, error);
    const bool fits = folder ? fs::is_directory(path, error) : fs::is_regular_file(path, error);
    // What is elsewhere and what is not there are told alike.
    if (!fits || !inside(path)) {
      throw UsageError(fmt::format("{} is no {} in {}", name, folder ? "folder" : "file",
                                   folders_.front().string()));
    }
    if (folder) refuse_ways_out(path);
    return path.string();
  }

 private:
  bool inside(const fs::path& path) const {
    return std::ranges::any_of(folders_, [&](const fs::path& folder) {
      return std::ranges::mismatch(folder, path).in1 == folder.end();
    });
  }

  void refuse_ways_out(const fs::path& folder) const {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      std::error_code error;
      if (!entry.is_symlink() || inside(fs::canonical(entry.path(), error))) continue;
      throw UsageError(fmt::format("{} leads out of the allowed folders", entry.path().string()));
    }
  }

  std::vector<fs::path> folders_;
};

/// Keeps what a command says.
class McpHost final : public CommandHost {
 public:
  void answered(const ReportParts& parts) override {
    constexpr TextStyle kPlain = {.unicode = true};
    output_ << terminal_text(parts.text(kPlain), kPlain);
  }
  std::ostream& output() override { return output_; }
  void note(std::string_view message) override { notes_ += fmt::format("{}\n", message); }
  const std::atomic<bool>& stop() const override { return stop_; }
  std::optional<Recording> at_hand(const std::string& /*path*/) override { return std::nullopt; }

  std::string text() const { return output_.str() + notes_; }

 private:
  std::ostringstream output_;
  std::string notes_;
  std::atomic<bool> stop_{false};
};

std::string shortened(std::string text, const std::string& command) {
  if (text.size() <= kMostCharacters) return text;
  const std::size_t end = text.rfind('\n', kMostCharacters) + 1;
  const auto left = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  text.resize(end);
  return text + fmt::format("({} more lines: memreplay {})\n", left, command);
}

std::vector<std::string> words_of(const Parameter& parameter, const McpJson& value,
                                  const AllowedFolders& folders) {
  using Kind = Parameter::Kind;
  const auto refuse = [&](const char* expected) {
    throw UsageError(fmt::format("{} is {}; expected {}", parameter.name, value.dump(), expected));
  };
  const auto option = [&](const std::string& text) {
    return fmt::format("{}={}", parameter.option, text);
  };
  std::vector<std::string> words;
  if (parameter.kind == Kind::number) {
    if (!value.is_number_unsigned()) refuse("a whole number");
    words.push_back(option(value.dump()));
  } else if (parameter.kind == Kind::texts) {
    if (!value.is_array()) refuse("a list of texts");
    for (const McpJson& one : value) {
      if (!one.is_string()) refuse("a list of texts");
      words.push_back(option(one.get<std::string>()));
    }
  } else {
    if (!value.is_string()) refuse("a text");
    const std::string text = value.get<std::string>();
    words.push_back(parameter.option.empty() ? folders.allowed(text, parameter.kind == Kind::folder)
                                             : option(text));
  }
  return words;
}

std::vector<std::string> arguments_of(const Tool& tool, const McpJson& given,
                                      const AllowedFolders& folders) {
  for (const auto& [name, value] : given.items()) {
    if (std::ranges::find(tool.parameters, name, &Parameter::name) == tool.parameters.end()) {
      throw UsageError(fmt::format("{} has no parameter {}", tool.command, name));
    }
  }
  const std::string required(tool.parameters.front().name);
  if (!given.contains(required)) throw UsageError(fmt::format("{} is missing", required));
  std::vector<std::string> arguments;
  for (const std::string& argument : tool.always) {
    const bool asked = std::ranges::any_of(tool.parameters, [&](const Parameter& parameter) {
      return given.contains(std::string(parameter.name)) && !parameter.option.empty() &&
             argument.starts_with(fmt::format("{}=", parameter.option));
    });
    if (!asked) arguments.push_back(argument);
  }
  for (const Parameter& parameter : tool.parameters) {
    const auto value = given.find(std::string(parameter.name));
    if (value == given.end() || value->is_null()) continue;
    std::ranges::copy(words_of(parameter, *value, folders), std::back_inserter(arguments));
  }
  return arguments;
}

McpJson text_result(const std::string& text, bool error) {
  McpJson content = McpJson::array();
  content.push_back({{"type", "text"}, {"text", text}});
  return {{"content", content}, {"isError", error}};
}

McpJson called(const Tool& tool, const McpJson& given, const AllowedFolders& folders) {
  try {
    const std::vector<std::string> arguments = arguments_of(tool, given, folders);
    McpHost host;
    const CommandHostScope scope(host);
    const Command& command = command_named(std::string(tool.command));
    const int status = command.run(command, arguments);
    const std::string again = fmt::format("{} {}", tool.command, fmt::join(arguments, " "));
    return text_result(shortened(host.text(), again), status == kUnusable);
  } catch (const std::exception& error) {
    return text_result(error.what(), true);
  }
}

struct Refused {
  int code;
  std::string message;
};

McpJson result_of(const std::string& method, const McpJson& parameters,
                  const AllowedFolders& folders) {
  if (method == "initialize") {
    const std::string wanted = parameters.value("protocolVersion", std::string());
    const bool known = std::ranges::find(kProtocols, wanted) != kProtocols.end();
    return {{"protocolVersion", known ? std::string_view(wanted) : kProtocols.front()},
            {"capabilities", {{"tools", McpJson::object()}}},
            {"serverInfo", {{"name", "memreplay"}, {"version", MEMREPLAY_VERSION}}},
            {"instructions", kInstructions}};
  }
  if (method == "ping") return McpJson::object();
  if (method == "tools/list") {
    McpJson all = McpJson::array();
    for (const Tool& tool : tools()) all.push_back(listed(tool));
    return {{"tools", all}};
  }
  if (method != "tools/call") throw Refused{kMethodNotFound, "no method " + method};
  const std::string name = parameters.value("name", std::string());
  const auto tool = std::ranges::find(tools(), name, &Tool::command);
  if (tool == tools().end()) throw Refused{kInvalidParams, "no tool " + name};
  const McpJson given = parameters.value("arguments", McpJson::object());
  if (!given.is_object()) throw Refused{kInvalidParams, "arguments is not an object"};
  return called(*tool, given, folders);
}

/// Unset: a notification, which has no answer.
std::optional<McpJson> answer_to(const std::string& line, const AllowedFolders& folders) {
  McpJson answer{{"jsonrpc", "2.0"}, {"id", nullptr}};
  try {
    // Copies and texts of it are made by recursion.
    const auto bounded = [](int depth, McpJson::parse_event_t, const McpJson&) {
      if (depth > kDeepest) throw Refused{kInvalidRequest, "nested too deeply"};
      return true;
    };
    const McpJson message = McpJson::parse(line, bounded, false);
    if (message.is_discarded()) throw Refused{kParseError, "not JSON"};
    if (!message.is_object() || !message.contains("method") || !message["method"].is_string()) {
      throw Refused{kInvalidRequest, "not a request"};
    }
    if (!message.contains("id")) return std::nullopt;
    answer["id"] = message["id"];
    const McpJson parameters = message.value("params", McpJson::object());
    answer["result"] = result_of(message["method"].get<std::string>(), parameters, folders);
  } catch (const Refused& refused) {
    answer["error"] = {{"code", refused.code}, {"message", refused.message}};
  } catch (const McpJson::exception& error) {
    answer["error"] = {{"code", kInvalidParams}, {"message", error.what()}};
  }
  return answer;
}

}  // namespace

int run_mcp(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> given;
  CommandLine line(command);
  line.positionals("FOLDER", given);
  line.parse(arguments);
  if (command_host() != nullptr)
    throw UsageError("mcp needs standard input and output to itself; start it as its own process");
  if (given.empty()) given.emplace_back(".");
  const AllowedFolders folders(given);
  for (std::string message; std::getline(std::cin, message);) {
    if (message.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto answer = answer_to(message, folders);
    if (!answer) continue;
    // Paths may hold any byte.
    std::cout << answer->dump(-1, ' ', true, McpJson::error_handler_t::replace) << std::endl;
    if (!std::cout) break;
  }
  return kDone;
}

}  // namespace memreplay
