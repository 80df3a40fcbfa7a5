#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "extensions/mcp/mcp_requests.hpp"
#include "extensions/mcp/mcp_tools.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/terminal.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/text_style.hpp"

/// The Model Context Protocol over standard input and output: a message a line, JSON-RPC 2.0.
/// https://modelcontextprotocol.io/specification
namespace memreplay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProtocols[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
/// Every text is cut there: figures take a token for two or three characters, 2,000 in all. A note
/// may follow.
constexpr std::size_t kMostCharacters = 4400;
/// So that one line, or the command, leaves room for the rest.
constexpr std::size_t kMostOfLine = 1000;
constexpr std::size_t kMostOfCommand = 500;
constexpr int kDeepest = 32;
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;

constexpr const char* kInstructions =
    "memreplay answers from a recording of GPU memory (torch.cuda.memory._dump_snapshot, .pickle) "
    "or from a log with an out-of-memory message. After an out-of-memory error call explain, then "
    "tune; both need only the file. Without a recording, write one in a shell: memreplay record -o "
    "run.pickle -- python train.py; without a GPU add --virtual-gpu CARD.";

/// Also what an error's text would end at.
std::string one_line(std::string_view text) { return terminal_line(text, {.unicode = true}); }

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
    fs::path path;
    // The system would take a name with a zero in it for what stands before that.
    if (name.find('\0') == name.npos) path = fs::canonical(folders_.front() / name, error);
    const bool fits = folder ? fs::is_directory(path, error) : fs::is_regular_file(path, error);
    // What is elsewhere and what is not there are told alike.
    if (!fits || !inside(path)) {
      throw UsageError(fmt::format("{} is no {} in {}", one_line(name), folder ? "folder" : "file",
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
    std::error_code error;
    std::error_code ignored;
    fs::recursive_directory_iterator entries(folder, error);
    for (; !error && entries != end(entries); entries.increment(error)) {
      if (!entries->is_symlink(ignored)) continue;
      if (inside(fs::canonical(entries->path(), ignored))) continue;
      throw UsageError(
          fmt::format("{} leads out of the allowed folders", entries->path().string()));
    }
    if (error) throw UsageError(fmt::format("{}: {}", folder.string(), error.message()));
  }

  std::vector<fs::path> folders_;
};

/// At most so many characters, the last of them whole.
std::string cut(std::string text, std::size_t most) {
  constexpr std::string_view kMore = "…";
  if (text.size() <= most) return text;
  std::size_t end = most - kMore.size();
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  text.resize(end);
  return text.append(kMore);
}

/// Keeps what a command says.
class McpHost final : public CommandHost {
 public:
  explicit McpHost(const std::atomic<bool>& stop) : stop_(stop) {}

  void answered(const ReportParts& parts) override {
    constexpr TextStyle kPlain = {.unicode = true};
    output_ << terminal_text(parts.text(kPlain), kPlain);
  }
  std::ostream& output() override { return output_; }
  void note(std::string_view message) override { notes_ += one_line(message) + '\n'; }
  const std::atomic<bool>& stop() const override { return stop_; }
  std::optional<Recording> at_hand(const std::string& /*path*/) override { return std::nullopt; }

  std::string text() const { return output_.str() + notes_; }

 private:
  std::ostringstream output_;
  std::string notes_;
  const std::atomic<bool>& stop_;
};

/// The lines that there is room for, and how to have the others.
std::string shortened(const std::string& text, const std::string& command) {
  std::string whole;
  std::istringstream given(text);
  for (std::string line; std::getline(given, line);) whole += cut(line, kMostOfLine) + '\n';
  if (whole.size() <= kMostCharacters) return whole;
  const std::string how = cut(command, kMostOfCommand);
  const auto said = [&](auto left) {
    return fmt::format("({} more lines: memreplay {})\n", left, how);
  };
  const std::size_t room = kMostCharacters - said(whole.size()).size();
  const std::size_t end = whole.rfind('\n', room - 1) + 1;
  const auto left = std::count(whole.begin() + static_cast<std::ptrdiff_t>(end), whole.end(), '\n');
  return whole.substr(0, end) + said(left);
}

std::vector<std::string> words_of(const McpParameter& parameter, const McpJson& value,
                                  const AllowedFolders& folders) {
  using Kind = McpParameter::Kind;
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

std::vector<std::string> arguments_of(const McpTool& tool, const McpJson& given,
                                      const AllowedFolders& folders) {
  for (const auto& [name, value] : given.items()) {
    if (std::ranges::find(tool.parameters, name, &McpParameter::name) == tool.parameters.end()) {
      throw UsageError(fmt::format("{} has no parameter {}", tool.command, one_line(name)));
    }
  }
  const std::string required(tool.parameters.front().name);
  if (!given.contains(required)) throw UsageError(fmt::format("{} is missing", required));
  std::vector<std::string> arguments;
  for (const std::string& argument : tool.always) {
    const bool asked = std::ranges::any_of(tool.parameters, [&](const McpParameter& parameter) {
      return given.contains(std::string(parameter.name)) && !parameter.option.empty() &&
             argument.starts_with(fmt::format("{}=", parameter.option));
    });
    if (!asked) arguments.push_back(argument);
  }
  for (const McpParameter& parameter : tool.parameters) {
    const auto value = given.find(std::string(parameter.name));
    if (value == given.end() || value->is_null()) continue;
    std::ranges::copy(words_of(parameter, *value, folders), std::back_inserter(arguments));
  }
  return arguments;
}

/// "fit --vary" of a line that names a command with an option that no tool has; empty: the tool can
/// be asked for it.
std::string no_tool_for(std::istringstream words) {
  std::string name;
  if (!(words >> name)) return {};
  if (std::ranges::find(commands(), name, &Command::name) == commands().end()) return {};
  const auto tool = std::ranges::find(mcp_tools(), name, &McpTool::command);
  if (tool == mcp_tools().end()) return name;
  for (std::string word; words >> word;) {
    if (!word.starts_with("--")) continue;
    const std::string option = word.substr(0, word.find('='));
    const bool known = std::ranges::find(tool->parameters, option, &McpParameter::option) !=
                       tool->parameters.end();
    if (!known) return fmt::format("{} {}", name, option);
  }
  return {};
}

/// What the answer names and a client cannot ask for here.
std::string shell_note(const std::string& text) {
  constexpr std::string_view kProgram = "memreplay ";
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = text.find(kProgram, at)) != std::string::npos;) {
    at += kProgram.size();
    const std::string name =
        no_tool_for(std::istringstream(text.substr(at, text.find('\n', at) - at)));
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  if (names.empty()) return {};
  return fmt::format("(For a shell, no tool here: memreplay {}.)\n",
                     fmt::join(names, ", memreplay "));
}

McpJson text_result(const std::string& text, bool error) {
  McpJson content = McpJson::array();
  content.push_back({{"type", "text"}, {"text", text}});
  return {{"content", content}, {"isError", error}};
}

/// As a shell takes it.
std::string command_line(const McpTool& tool, const std::vector<std::string>& arguments) {
  std::string line(tool.command);
  for (const std::string& argument : arguments) line += ' ' + shell_word(argument);
  return one_line(line);
}

McpJson error_result(std::string_view why) {
  return text_result(cut(one_line(why), kMostCharacters), true);
}

McpJson called(const McpTool& tool, const McpJson& given, const AllowedFolders& folders,
               const McpRequests& requests) {
  try {
    const std::vector<std::string> arguments = arguments_of(tool, given, folders);
    McpHost host(requests.cancelled());
    const CommandHostScope scope(host);
    const Command& command = command_named(std::string(tool.command));
    const int status = command.run(command, arguments);
    const std::string text = shortened(host.text(), command_line(tool, arguments));
    return text_result(text + shell_note(text), status == kUnusable);
  } catch (const UsageError& error) {
    return error_result(error.what());
  } catch (const InputError& error) {
    return error_result(error.what());
  } catch (const fs::filesystem_error& error) {
    return error_result(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::bad_alloc&) {
    return error_result("there is not enough memory for this");
  } catch (const std::exception&) {
    return error_result(fmt::format("{} failed", tool.command));
  }
}

struct Refused {
  int code;
  std::string message;
};

/// Empty where it is not there.
std::string text_in(const McpJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return "";
  if (!found->is_string()) throw Refused{kInvalidParams, fmt::format("{} is not a text", name)};
  return found->get<std::string>();
}

McpJson object_in(const McpJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return McpJson::object();
  if (!found->is_object()) throw Refused{kInvalidParams, fmt::format("{} is not an object", name)};
  return *found;
}

McpJson result_of(const std::string& method, const McpJson& parameters,
                  const AllowedFolders& folders, const McpRequests& requests) {
  if (method == "initialize") {
    const std::string wanted = text_in(parameters, "protocolVersion");
    const bool known = std::ranges::find(kProtocols, wanted) != std::end(kProtocols);
    return {{"protocolVersion", known ? std::string_view(wanted) : kProtocols[0]},
            {"capabilities", {{"tools", McpJson::object()}}},
            {"serverInfo", {{"name", "memreplay"}, {"version", MEMREPLAY_VERSION}}},
            {"instructions", kInstructions}};
  }
  if (method == "ping") return McpJson::object();
  if (method == "tools/list") {
    McpJson all = McpJson::array();
    for (const McpTool& tool : mcp_tools()) all.push_back(listed(tool));
    return {{"tools", all}};
  }
  if (method != "tools/call") throw Refused{kMethodNotFound, "no method " + method};
  const std::string name = text_in(parameters, "name");
  const auto tool = std::ranges::find(mcp_tools(), name, &McpTool::command);
  if (tool == mcp_tools().end()) throw Refused{kInvalidParams, "no tool " + name};
  return called(*tool, object_in(parameters, "arguments"), folders, requests);
}

/// Unset: there is none, of what is a notification or was cancelled.
std::optional<McpJson> answer_to(const std::string& line, const AllowedFolders& folders,
                                 McpRequests& requests) {
  McpJson answer{{"jsonrpc", "2.0"}, {"id", nullptr}};
  try {
    if (line.size() > McpRequests::kLongest) throw Refused{kInvalidRequest, "longer than 1 MiB"};
    // Copies and texts of it are made by recursion.
    const auto bounded = [](int depth, McpJson::parse_event_t, const McpJson&) {
      if (depth > kDeepest) throw Refused{kInvalidRequest, "nested too deeply"};
      return true;
    };
    const McpJson message = McpJson::parse(line, bounded, false);
    if (message.is_discarded()) throw Refused{kParseError, "not JSON"};
    if (!message.is_object()) throw Refused{kInvalidRequest, "not a request"};
    const McpJson id = message.value("id", McpJson());
    // A number that no 64 bits hold would come back as another one.
    if (id.is_structured() || id.is_boolean() || id.is_number_float()) {
      throw Refused{kInvalidRequest, "id is no text or whole number of 64 bits"};
    }
    answer["id"] = id;
    if (!message.contains("method") || !message["method"].is_string()) {
      throw Refused{kInvalidRequest, "not a request"};
    }
    if (!message.contains("id")) return std::nullopt;
    if (!requests.begin(answer["id"].dump())) return std::nullopt;
    answer["result"] = result_of(message["method"].get<std::string>(), object_in(message, "params"),
                                 folders, requests);
  } catch (const Refused& refused) {
    answer["error"] = {{"code", refused.code},
                       {"message", cut(one_line(refused.message), kMostOfLine)}};
  }
  if (requests.cancelled()) return std::nullopt;
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
  McpRequests requests(std::cin);
  while (const auto message = requests.next()) {
    if (message->find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto answer = answer_to(*message, folders, requests);
    if (!answer) continue;
    // Paths may hold any byte.
    std::cout << answer->dump(-1, ' ', true, McpJson::error_handler_t::replace) << std::endl;
    if (!std::cout) break;
  }
  return kDone;
}

}  // namespace memreplay
