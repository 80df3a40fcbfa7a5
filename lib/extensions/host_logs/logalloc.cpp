#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/log_lines.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/process_choice.hpp"

namespace memreplay {
namespace {

/// "PROCESS THREAD FUNCTION(ARGUMENTS)=RESULT", as it is written.
struct LogallocLine {
  std::string_view process;
  std::string_view thread;
  std::string_view function;
  std::array<std::string_view, 3> arguments;
  std::size_t argument_count = 0;
  std::string_view result;  ///< empty: none
};

std::optional<LogallocLine> parse_logalloc_line(std::string_view text) {
  LogallocLine line;
  for (std::string_view* word : {&line.process, &line.thread}) {
    const std::size_t blank = text.find(' ');
    if (blank == text.npos || !parse_whole(text.substr(0, blank))) return std::nullopt;
    *word = text.substr(0, blank);
    text.remove_prefix(blank + 1);
  }
  const std::size_t open = text.find('('), close = text.find(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  line.function = text.substr(0, open);
  const bool is_name = !line.function.empty() && std::ranges::all_of(line.function, [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
  if (!is_name) return std::nullopt;
  std::string_view rest = text.substr(open + 1, close - open - 1);
  while (!rest.empty()) {
    if (line.argument_count == line.arguments.size()) return std::nullopt;
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view argument = rest.substr(0, comma);
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    line.arguments[line.argument_count++] = argument;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  const std::string_view behind = text.substr(close + 1);
  if (!behind.empty() && !behind.starts_with('=')) return std::nullopt;
  line.result = behind.substr(behind.empty() ? 0 : 1);
  return line;
}

bool is_logalloc(const Input& input) {
  const Input beginning{input.name, input.bytes.substr(0, 400)};
  LogLines lines(beginning);
  return lines.next() && parse_logalloc_line(lines.line()).has_value();
}

class LogallocReader {
 public:
  LogallocReader(const Input& input, const ReadOptions& options, const BeginEvents& begin)
      : lines_(input),
        processes_(options),
        log_(kHostMemory, input.name, begin),
        recording_(recording_of_log(input, "logalloc", "log of Mozilla's logalloc")) {
    recording_.lacks = {"times", "call sites"};
    log_.tell_places([this] { return lines_.place(); });
    log_.expect(lines_.about(), &Trace::threads);
  }

  /// False where events are to leave and there are none.
  bool read_all() {
    read_lines(
        lines_, log_.trace().coverage, [this] { read_line(); }, [this] { log_.is_filled(); });
    if (const std::string missing = processes_.tell(recording_); !missing.empty()) {
      lines_.fail(missing);
    }
    return log_.finish(recording_);
  }
  Recording take() { return std::move(recording_); }

 private:
  void read_line();
  void call(const LogallocLine& line, std::string_view function);
  /// "#3" of a log that logalloc_munge.py shortened, "0x7f00", "(nil)".
  Address pointer(std::string_view text) const {
    return text.starts_with('#') ? lines_.whole("a pointer", text.substr(1), "# and a whole number")
                                 : lines_.address(text);
  }
  Bytes product(std::string_view count, std::string_view size) const {
    const Bytes each = lines_.size(size), number = lines_.size(count);
    if (each > 0 && number >= kMostBytes / each) lines_.bad("a size", size, "less than 1 EiB");
    return each * number;
  }
  // Each process has addresses of its own.
  PointerPlace place(std::string_view process) {
    if (!processes_.is_merged()) return {};
    return {.heap = heaps_.try_emplace(std::string(process), heaps_.size()).first->second};
  }

  LogLines lines_;
  ProcessChoice processes_;
  PointerLog log_;
  Recording recording_;
  std::map<std::string, std::uint64_t> heaps_;
};

void LogallocReader::read_line() {
  auto line = parse_logalloc_line(lines_.line());
  if (!line) lines_.bad("a line", lines_.line(), "'PROCESS THREAD FUNCTION(ARGUMENTS)=RESULT'");
  if (!processes_.takes(line->process)) return log_.leave_out("lines of other processes");
  std::string_view function = line->function;
  // An arena stands before the other arguments.
  constexpr std::string_view kOfArena = "moz_arena_";
  if (function.starts_with(kOfArena) && line->argument_count > 1) {
    function.remove_prefix(kOfArena.size());
    std::rotate(line->arguments.begin(), line->arguments.begin() + 1, line->arguments.end());
    --line->argument_count;
  }
  call(*line, function);
  const std::uint64_t thread = lines_.whole("a thread", line->thread, "a whole number");
  log_.fill<&Trace::threads>(
      static_cast<std::uint32_t>(std::min<std::uint64_t>(thread, UINT32_MAX)));
}

void LogallocReader::call(const LogallocLine& line, std::string_view function) {
  const auto& arguments = line.arguments;
  const auto has = [&](std::size_t count) {
    if (line.argument_count != count) {
      lines_.bad("a line", lines_.line(), fmt::format("{} with {} arguments", function, count));
    }
    return true;
  };
  const PointerPlace where = place(line.process);
  const auto allocate = [&](Bytes size) { log_.allocate(where, pointer(line.result), size); };
  if (function == "free" && has(1)) {
    log_.free(where, pointer(arguments[0]));
  } else if ((function == "malloc" || function == "valloc") && has(1)) {
    allocate(lines_.size(arguments[0]));
  } else if (function == "calloc" && has(2)) {
    allocate(product(arguments[0], arguments[1]));
  } else if (function == "realloc" && has(2)) {
    log_.reallocate(where, pointer(arguments[0]), pointer(line.result), lines_.size(arguments[1]));
  } else if (function.ends_with("memalign") || function == "aligned_alloc") {
    has(2);
    allocate(lines_.size(arguments[1]));
  }  // others neither allocate nor free: jemalloc_stats and the like
}

}  // namespace

// What Firefox writes under MALLOC_LOG (memory/replace/logalloc/README), as it is or shortened by
// logalloc_munge.py.
ReaderInfo logalloc_reader() {
  return {.name = "logalloc",
          .summary =
              "A log of Mozilla's logalloc (MALLOC_LOG of Firefox): calls of malloc by "
              "process and thread.",
          .recognises = is_logalloc,
          .read = read_and_keep<LogallocReader>,
          .hand_on = read_and_hand_on<LogallocReader>,
          .stream = stream_as_read<LogallocReader>,
          .has_processes = true};
}

}  // namespace memreplay
