#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/decompress.hpp"
#include "trace/event_count.hpp"
#include "trace/gate.hpp"
#include "trace/input.hpp"
#include "trace/python/python_plugin.hpp"
#include "trace/reader.hpp"
#include "trace/readers.hpp"
#include "trace/snapshot/torch_snapshot.hpp"
#include "trace/stated_buffer.hpp"

namespace memreplay {

namespace {

/// Smaller files are read faster at once.
constexpr std::size_t kWorthStreaming = 16 << 20;

std::string names(std::string_view separator) {
  std::string text;
  for (const ReaderInfo& reader : readers()) {
    if (!text.empty()) text += separator;
    text += reader.name;
  }
  return text;
}

const ReaderInfo& reader_named(const std::string& name) {
  const auto all = readers();
  const auto found = std::ranges::find(all, name, &ReaderInfo::name);
  if (found != all.end()) return *found;
  std::string identifier = name;
  std::ranges::replace(identifier, '-', '_');
#define MEMREPLAY_LEFT_OUT(left_out, extension) \
  if (identifier == #left_out) throw NotBuilt("format '" + name + "'", extension);
#include "registered/readers_left_out.def"
#undef MEMREPLAY_LEFT_OUT
  std::vector<std::string> known;
  for (const ReaderInfo& reader : all) known.emplace_back(reader.name);
  throw UsageError("unknown format '" + name + "'" + did_you_mean(name, known) +
                   " (memreplay list formats)");
}

/// What to do about a text that may be a table of a kind nobody knows: its first two lines have as
/// many fields, and those of the first are names.
std::string about_its_header(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  const std::string_view line = text.substr(0, std::min(text.find_first_of("\r\n"), kLongest + 1));
  const bool readable = std::ranges::none_of(line, [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  });
  const std::size_t separator = line.find_first_of(",;\t");
  if (!readable || line.size() > kLongest || separator == line.npos) return {};
  const std::string_view rest = text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
  const auto fields = [&](std::string_view row) {
    return std::ranges::count(row, line[separator]);
  };
  const bool has_names =
      std::ranges::none_of(
          line, [](char c) { return c == '(' || c == '{' || c == '"' || c == '=' || c == ':'; }) &&
      line.find(", ") == line.npos;
  if (!has_names || fields(rest.substr(0, rest.find('\n'))) != fields(line)) return {};
  std::string header(line);
  std::ranges::replace(header, '\t', ' ');
  return "; if this is a CSV table (first line: " + header +
         "), map its columns: --columns op=NAME,id=NAME,size=NAME (memreplay list formats csv)";
}

/// Which compressed files are wanted. A format, or columns, that are named show when all is read.
OpenedInput::Wanted wanted_by(const ReaderInfo* named, const ReadOptions& options) {
  if (named != nullptr || !options.columns.empty()) return {};
  return [](const Input& beginning) {
    return std::ranges::any_of(
        readers(), [&](const ReaderInfo& reader) { return reader.recognises(beginning); });
  };
}

/// The one that is named, else that which recognises the content; for columns named by hand the
/// one that has columns.
const ReaderInfo& reader_for(const Input& input, const ReaderInfo* named,
                             const ReadOptions& options) {
  if (input.bytes.starts_with("\xFF\xFE") || input.bytes.starts_with("\xFE\xFF")) {
    throw InputError(input.name, "", "is text in UTF-16; expected UTF-8");
  }
  if (named == nullptr) {
    if (const std::string what = named_content(input.name, input.bytes); !what.empty()) {
      throw InputError(input.name, "", what);
    }
  }
  const auto all = readers();
  auto found = std::ranges::find_if(all, [&](const ReaderInfo& reader) {
    return named != nullptr ? reader.name == named->name : reader.recognises(input);
  });
  const bool by_hand = !options.columns.empty();
  if (found == all.end() && by_hand) {
    found = std::ranges::find_if(all, [](const auto& reader) { return !reader.columns.empty(); });
  }
  if (found == all.end()) {
    const bool is_prose =
        options.takes_texts && input.bytes.find('\0') == input.bytes.npos && is_utf8(input.bytes);
    throw InputError(
        input.name, "",
        (is_prose ? std::string("has no known format, and no line of it is a message about "
                                "memory that is known (memreplay list formats pasted-text)")
                  : std::string("has no known format")) +
            "; expected one of " + names(", ") +
            ", plain or compressed by gzip or zstd (--format names one)" +
            about_its_header(input.bytes));
  }
  if (found->is_text && !options.takes_texts) {
    throw InputError(input.name, "",
                     "is a text about memory, without a history; expected a recording (memreplay "
                     "explain reads such texts)");
  }
  if (by_hand && found->columns.empty()) {
    throw UsageError("--columns names the columns of a CSV; " + input.name + " is of the format " +
                     std::string(found->name));
  }
  if (!options.process.empty() && !found->has_processes) {
    throw UsageError("--process chooses a process of a log; " + input.name + " is of the format " +
                     std::string(found->name) + ", which has one");
  }
  return *found;
}

Recording count_events(const ReaderInfo& reader, const Input& input, const ReadOptions& options) {
  CountedEvents counted;
  Recording recording = reader.hand_on(input, options, [&]() -> EventSink& {
    counted.clear();
    return counted;
  });
  if (std::ranges::all_of(recording.traces, [](const Trace& trace) { return trace.ops.empty(); })) {
    counted.hand_over(recording);
  }
  return recording;
}

/// The reader of that name, or null where it is to be recognised.
const ReaderInfo* named_reader(const ReadOptions& options) {
  return options.format.empty() ? nullptr : &reader_named(options.format);
}

Recording read_input(OpenedInput& opened, const ReaderInfo* named, const ReadOptions& options) {
  Input input = opened.input();
  input.host = options.host;
  input.release = [&] { opened.release(); };
  if (options.progress) {
    input.progress = [&](double share) { options.progress(input.name, share); };
  }
  const ReaderInfo& reader = reader_for(input, named, options);
  if (options.python_reader && reader.name != kTorchPickleFormat) {
    throw UsageError("the reader 'python' reads pickles only; " + input.name +
                     " is of the format " + std::string(reader.name));
  }
  return options.python_reader               ? read_with_python(input)
         : options.counted && reader.hand_on ? count_events(reader, input, options)
                                             : reader.read(input, options);
}

/// Whether a reader takes the bytes as they arrive: it is asked before all others.
bool is_read_arriving(const Input& input, const ReaderInfo* named, const ReadOptions& options) {
  if (input.arrival == nullptr || options.python_reader || !options.columns.empty()) return false;
  const ReaderInfo& first = readers().front();
  return first.reads_arriving && (named == nullptr || named->name == first.name) &&
         first.recognises(input);
}

Recording read_opened(OpenedInput& opened, const ReaderInfo* named, const ReadOptions& options) {
  if (!is_read_arriving(opened.input(), named, options)) opened.await_all();
  for (;;) {
    Recording recording;
    std::exception_ptr failure;
    try {
      recording = read_input(opened, named, options);
    } catch (...) {
      failure = std::current_exception();
    }
    // What is wrong with the packed bytes comes first, and hides what it leads to.
    if (!opened.await_all() || (failure && opened.restore())) continue;
    if (failure) std::rethrow_exception(failure);
    check_recording(recording);
    return recording;
  }
}

}  // namespace

std::span<const ReaderInfo> readers() {
  static const std::array kReaders = {
#define MEMREPLAY_READER(identifier, file) identifier##_reader(),
#include "registered/readers.def"
#undef MEMREPLAY_READER
  };
  return kReaders;
}

bool seems_a_recording(const std::string& path) {
  // Whoever opens a pipe waits for its writer.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  constexpr std::size_t kBeginning = 64 * kKiB;
  std::string bytes(kBeginning, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.empty() || is_compressed(bytes)) return true;
  return std::ranges::any_of(readers(), [&](const ReaderInfo& reader) {
    return !reader.is_text && reader.recognises({.name = path, .bytes = bytes});
  });
}

Recording read_recording(const std::string& path, const ReadOptions& options) {
  if (options.at_hand) {
    if (auto recording = options.at_hand(path)) {
      check_recording(*recording);
      return std::move(*recording);
    }
  }
  // A wrong name is told before a long file is read.
  const ReaderInfo* named = named_reader(options);
  OpenedInput opened(path, Unpack::beside, wanted_by(named, options));
  return read_opened(opened, named, options);
}

Recording read_recording(const std::string& name, std::string_view bytes,
                         const ReadOptions& options) {
  const ReaderInfo* named = named_reader(options);
  OpenedInput opened(name, bytes, Unpack::beside, wanted_by(named, options));
  return read_opened(opened, named, options);
}

bool stream_recording(const std::string& path, const ReadOptions& options,
                      const BeginEvents& begin) {
  const ReaderInfo* named = named_reader(options);
  if (path == "-" || options.python_reader) return false;  // "-" cannot be read again
  const OpenedInput opened(path, Unpack::at_once, wanted_by(named, options));
  if (opened.input().bytes.size() < kWorthStreaming) return false;
  const ReaderInfo& reader = reader_for(opened.input(), named, options);
  return reader.stream != nullptr && reader.stream(opened.input(), options, begin);
}

bool states_lifetimes(std::string_view format) {
  const auto reader = std::ranges::find(readers(), format, &ReaderInfo::name);
  return reader != readers().end() && reader->stated != nullptr;
}

std::vector<StatedBuffer> stated_buffers(const std::string& path, const ReadOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw UsageError(path +
                     ": is no file; expected one, because lists of lifetimes are read twice");
  }
  const ReaderInfo* named = named_reader(options);
  const OpenedInput opened(path, Unpack::at_once, wanted_by(named, options));
  return reader_for(opened.input(), named, options).stated(opened.input(), options);
}

void copy_recording(const std::string& path, const ReadOptions& options, ValueWriter& writer) {
  const ReaderInfo* named = named_reader(options);
  const OpenedInput opened(path, Unpack::at_once, wanted_by(named, options));
  const ReaderInfo& reader = reader_for(opened.input(), named, options);
  if (reader.copy == nullptr) {
    throw UsageError(path + ": a recording of the format " + std::string(reader.name) +
                     " has no addresses; choose a strategy that makes them (-s torch)");
  }
  reader.copy(opened.input(), writer);
}

}  // namespace memreplay
