#include "record/recording_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/system_calls.hpp"
#include "core/text.hpp"
#include "record/answer.hpp"
#include "trace/json/json_node.hpp"

namespace memreplay {
namespace {

VirtualFacts virtual_facts(const JsonNode& node) {
  VirtualFacts facts;
  facts.reads = node.at("reads").whole();
  for (const JsonNode& place : node.at("read_at").elements()) {
    facts.read_at.push_back({place.at("file").text(), place.at("line").whole(),
                             place.at("function").text(), place.at("times").whole()});
  }
  for (const JsonNode& workspace : node.at("workspaces").elements()) {
    facts.workspaces.push_back({workspace.at("function").text(), workspace.at("times").whole(),
                                workspace.at("largest_bytes").whole()});
  }
  const JsonNode cudnn = node.at("cudnn");
  facts.cudnn = {cudnn.at("version").text(),     cudnn.at("graphs").whole(),
                 cudnn.at("unanswered").whole(), cudnn.at("why").text(),
                 cudnn.at("timed").whole(),      cudnn.at("least_bytes").whole(),
                 cudnn.at("most_bytes").whole()};
  facts.oldest_code = node.at("oldest_code").whole();
  facts.requests = node.at("requests").whole();
  facts.refusals = node.at("refusals").whole();
  for (const JsonNode& refusal : node.at("first_refusals").elements()) {
    facts.first_refusals.push_back({refusal.at("request").whole(), refusal.at("bytes").whole()});
  }
  for (const auto& [name, times] : node.at("neutral_calls").members()) {
    facts.neutral_calls[name] = times.whole();
  }
  return facts;
}

namespace fs = std::filesystem;

constexpr std::string_view kRank = "{rank}";
constexpr const char* kCutOff = "it was cut off while it told what it did; is the disk full?";

[[noreturn]] void refuse(const std::string& target, int error) {
  throw UsageError(fmt::format("{}: cannot be written: {}", target, std::strerror(error)));
}

/// Where a recording of this name will stand.
fs::path place_of(const std::string& target) {
  if (fs::is_directory(target)) refuse(target, EISDIR);
  const fs::path place = followed(target);
  if (!fs::exists(place)) return place;
  if (!fs::is_regular_file(place)) {
    throw UsageError(fmt::format("{}: a device or a pipe; expected the name of a file", target));
  }
  if (::access(target.c_str(), W_OK) != 0) refuse(target, errno);
  return place;
}

/// Anything else in the folder is somebody else's, such as what the program wrote there.
bool is_of_a_process(const fs::path& file) {
  return parse_whole(file.stem().string()) && fs::is_regular_file(fs::symlink_status(file));
}

}  // namespace

std::error_code move_recording(const fs::path& from, fs::path to) {
  std::error_code error;
  const fs::file_status there = fs::status(to, error);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    return std::make_error_code(std::errc::file_exists);
  }
  if (fs::exists(there)) to = fs::canonical(to, error);
  fs::rename(from, to, error);
  return error;
}

std::string with_mark(const std::string& path, const std::string& mark) {
  const std::string ending = fs::path(path).extension().string();
  return path.substr(0, path.size() - ending.size()) + "-" + mark + ending;
}

RecordingFolder::RecordingFolder(const std::string& target, LiesIn lies_in)
    : lies_in_(std::move(lies_in)) {
  if (target == "-") throw UsageError("-o is -; expected the name of a file");
  target_ = place_of(target);
  std::string name = (target_.parent_path() / ".memreplay-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) refuse(target, errno);
  path_ = fs::absolute(name);
  if (lies_in_) lies_in_(path_.string());
}

RecordingFolder::~RecordingFolder() {
  std::error_code error;
  if (lies_in_) lies_in_("");
  if (is_kept_) return;
  is_done_ ? fs::remove_all(path_, error) : fs::remove(path_, error);
}

std::string RecordingFolder::name_of(const RecordedProcess& process, bool alone) const {
  std::string name = target_.string();
  const std::string rank = std::to_string(process.rank.value_or(0));
  const std::size_t place = name.find(kRank);
  if (place != name.npos) return name.replace(place, kRank.size(), rank);
  if (alone) return name;
  return with_mark(name, process.rank ? "rank" + rank : std::to_string(process.pid));
}

std::vector<RecordedProcess> RecordingFolder::collect() {
  std::vector<RecordedProcess> processes;
  std::set<fs::path> recordings, untold;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    if (!is_of_a_process(entry.path())) continue;
    if (entry.path().extension() == ".pickle") recordings.insert(entry.path().stem());
    if (entry.path().extension() == ".told") untold.insert(entry.path().stem());
    if (entry.path().extension() == ".json") processes.push_back(told_in(entry.path()));
  }
  if (error) throw InputError(path_.string(), "", "cannot be read: " + error.message());
  const auto process_of = [&](const fs::path& pid) -> RecordedProcess& {
    const std::uint64_t number = *parse_whole(pid.string());
    const auto known = std::ranges::find(processes, number, &RecordedProcess::pid);
    return known == processes.end() ? processes.emplace_back(RecordedProcess{.pid = number})
                                    : *known;
  };
  // One that was killed told nothing; its recording is that of the last OOM, signal or step.
  for (const fs::path& pid : recordings) process_of(pid).used_cuda = true;
  for (const fs::path& pid : untold) {
    if (!recordings.contains(pid)) process_of(pid).write_error = kCutOff;
  }
  std::ranges::sort(processes, {}, [](const auto& one) { return std::pair(one.rank, one.pid); });
  std::set<std::string> used;
  for (RecordedProcess& process : processes) {
    const std::string pid = std::to_string(process.pid);
    if (!recordings.contains(pid)) continue;
    fs::path name = name_of(process, recordings.size() == 1);
    if (!used.insert(name.string()).second) {  // a rank comes twice: two programs of one script
      name = with_mark(name.string(), pid);
    }
    const fs::path recording = path_ / (pid + ".pickle");
    if ((error = move_recording(recording, name))) {
      throw InputError(name.string(), "",
                       fmt::format("cannot be written: {}; the recording stays at {}",
                                   error.message(), recording.string()));
    }
    process.path = name.string();
  }
  done();
  return processes;
}

RecordedProcess told_in(const std::filesystem::path& file) {
  const std::string path = file.string();
  const auto json = parse_json(path, text_of_file(path), "what a recorded process tells");
  const JsonNode node(path, "", *json);
  RecordedProcess process{.pid = node.at("pid").whole(),
                          .torch = node.at("torch").text(),
                          .used_cuda = node.at("used_cuda").whole() != 0,
                          .ooms = node.at("ooms").whole(),
                          .steps = node.at("steps").whole(),
                          .pinned = node.at("pinned").whole(),
                          .own_switches = node.at("own_switches").whole()};
  if (node.has("torch_error")) process.torch_error = node.at("torch_error").text();
  if (node.has("write_error")) process.write_error = node.at("write_error").text();
  if (node.has("rank")) process.rank = node.at("rank").whole();
  if (node.has("virtual")) process.virtual_gpu = virtual_facts(node.at("virtual"));
  return process;
}

}  // namespace memreplay
