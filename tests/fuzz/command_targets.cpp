#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "device/watch/ledger.hpp"
#include "extensions/shell/script.hpp"
#include "fuzz/command_line.hpp"
#include "fuzz/fuzz_target.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/help.hpp"
#include "line/terminal.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::clock_t kLongest = CLOCKS_PER_SEC / 4;
constexpr std::size_t kHeaders = 200;  // without a file of their own

/// A private folder, whose files go with it.
class Workplace {
 public:
  Workplace() { fs::create_directories(folder_); }
  ~Workplace() { fs::remove_all(folder_); }

  std::string folder() const { return folder_.string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("memreplay_fuzz_" + std::to_string(::getpid()));
};

/// Takes the answer in every form, and ends the work after a while.
class Impatient final : public CommandHost {
 public:
  void answered(const ReportParts& parts) override {
    constexpr TextStyle kNarrow{.colour = true, .unicode = true, .width = 60};
    terminal_text(parts.text(kNarrow), kNarrow);
    text_ = terminal_text(parts.text({}), {});
    for (const ReportFormat& format : report_formats()) {
      using Needs = ReportFormat::Needs;
      if (format.needs == Needs::table && !parts.table) continue;
      if (format.needs == Needs::stacks && !parts.stacks) continue;
      format.write(parts);
    }
  }
  const std::string& text() const { return text_; }
  std::ostream& output() override { return output_; }
  void note(std::string_view message) override { terminal_line(message, {}); }
  const std::atomic<bool>& stop() const override { return stop_; }
  std::optional<Recording> at_hand(const std::string&) override { return std::nullopt; }

 private:
  std::string text_;
  std::ostringstream output_;
  std::atomic<bool> stop_ = false;
  std::jthread clock_{[this](const std::stop_token& done) {
    const std::clock_t end = std::clock() + kLongest;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any ends;
    while (!done.stop_requested() && std::clock() < end) {
      ends.wait_for(lock, done, std::chrono::milliseconds(20), [] { return false; });
    }
    stop_ = true;
  }};
};

/// The text of the answer; empty where there is none.
std::string run(const Words& line) {
  if (std::getenv("MEMREPLAY_FUZZ_SHOW") != nullptr) {
    std::fprintf(stderr, "memreplay %s\n", spaced(line).c_str());
  }
  const Command& command = command_named(line.front());
  Impatient host;
  const CommandHostScope scope(host);
  try {
    command.run(command, {line.begin() + 1, line.end()});
  } catch (const HelpAsked& asked) {
    help_text(asked.description, asked.shown);
  } catch (const AuditError& error) {
    // Not every strategy knows of alignments.
    if (std::string_view(error.what()).find("not aligned") == std::string_view::npos) throw;
  }
  return host.text();
}

/// The first line of the bytes chooses; what follows is a file, or else a bundled one is.
void run_chosen(std::string_view bytes) {
  static const Words kBundled = bundled_files();
  const std::string_view header = bytes.substr(0, bytes.find('\n'));
  const std::string_view file = bytes.substr(std::min(header.size() + 1, bytes.size()));
  Choices choices(header);
  const Workplace workplace;
  workplace.write("b", choices.of(kBundled));
  workplace.write("a", file.empty() ? choices.of(kBundled) : file);
  run(chosen_command_line(choices, workplace.folder()));
}

std::string any_header(std::mt19937& random) {
  constexpr std::size_t kLength = 24;
  std::string header;
  while (header.size() < kLength) header += static_cast<char>(random());
  std::ranges::replace(header, '\n', ' ');
  return header + '\n';
}

/// Any command, on files that any of the targets begins with.
Words chosen_seeds(const std::vector<FuzzTarget>& others) {
  std::mt19937 random(1);
  Words seeds;
  for (std::size_t i = 0; i < kHeaders; ++i) seeds.push_back(any_header(random));
  for (const FuzzTarget& target : others) {
    for (const std::string& file : target.seeds) seeds.push_back(any_header(random) + file);
  }
  return seeds;
}

/// A command on files that another target takes too.
FuzzTarget on_file(const std::string& name, const Words& before, const FuzzTarget& other) {
  const auto take = [before](std::string_view bytes) {
    const Workplace workplace;
    Words line = before;
    line.push_back(workplace.write("a", bytes));
    run(line);
  };
  return {name, take, other.seeds, other.words};
}

const Words kEdits = {"checkpoint:function=forward",
                      "checkpoint:code=models.py:40-45,group=4/2",
                      "checkpoint:function=mlp,only=2,reentrant=true\nautocast:to=bf16,cache=false",
                      "checkpoint:function=attn,segments=2\noffload:saved,bandwidth=25GiB/s",
                      "offload:function=mlp,only=2,pinned=true,to=host",
                      "scale:size>=1KiB&phase=build,factor=2",
                      "drop:category=temporary,size<2MiB\nscale:stream=0,factor=0.5",
                      "shorten:lives>=10,events=10",
                      "dtype:stack=models.py,step=1,from=fp32,to=fp8"};

/// One edit a line.
void replay_edited(std::string_view bytes) {
  Words line = {"replay", bundled_file("torch/batch_2.pickle.gz")};
  std::istringstream lines{std::string(bytes)};
  for (std::string edit; std::getline(lines, edit);) line.push_back("--edit=" + edit);
  run(line);
}

const Words kMessages = {
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})",
    R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})",
    R"({"method":"tools/call","id":2,"params":{"name":"explain","arguments":{"trace":"a"}}})",
    R"({"method":"tools/call","id":2,"params":{"name":"ranks","arguments":{"folder":"."}}})",
    R"({"method":"tools/call","id":3,"params":{"name":"compare","arguments":{"trace":"a",)"
    R"("settings":["expandable_segments:True"],"capacity":"24GiB"}}})",
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})"};

/// While it lives, standard input is these bytes, and standard output nothing.
class StandardStreams {
 public:
  explicit StandardStreams(std::string_view bytes) : in_(std::string(bytes)) { std::cin.clear(); }
  ~StandardStreams() {
    std::cin.rdbuf(before_in_);
    std::cout.rdbuf(before_out_);
  }

 private:
  std::istringstream in_;
  std::ostringstream out_;
  std::streambuf* before_in_ = std::cin.rdbuf(in_.rdbuf());
  std::streambuf* before_out_ = std::cout.rdbuf(out_.rdbuf());
};

/// A message a line.
void ask_over_mcp(std::string_view bytes) {
  static const std::string kTrace = bundled_file("pinned-steps.csv");
  const Workplace workplace;
  fs::copy_file(kTrace, fs::path(workplace.folder()) / "a");
  const StandardStreams streams(bytes);
  const Command& command = command_named("mcp");
  command.run(command, {workplace.folder()});
}

}  // namespace

Words failure_texts() {
  const std::string oom = bundled_file("torch/gpt_train_oom.pickle");
  return {run({"replay", bundled_file("bfc-oom.csv"), "-s", "bfc:limit=20000", "--oom-report"}),
          run({"replay", oom, "-s", "torch", "--oom-report"}),
          run({"replay", oom, "-s", "torch", "--torch-summary"})};
}

std::vector<FuzzTarget> command_targets(const std::vector<FuzzTarget>& others) {
  const auto named = [&](std::string_view name) {
    return *std::ranges::find(others, name, &FuzzTarget::name);
  };
  const std::string pinned = bundled_file("pinned-steps.csv");
  return {
      {"command", run_chosen, chosen_seeds(others), words_in(bundled_files())},
      {"edit", replay_edited, kEdits, words_in(kEdits)},
      {"mcp", ask_over_mcp, kMessages, words_in(kMessages)},
      on_file("check", {"check", pinned, "--baseline"}, named("baseline")),
      on_file("merge", {"ranks", "--merge"}, named("part")),
      on_file("explain-text", {"explain"}, named("pasted-text")),
  };
}

}  // namespace memreplay
