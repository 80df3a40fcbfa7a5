#include "trace/reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/input.hpp"
#include "trace/python/python_plugin.hpp"
#include "trace/torch/torch_pickle.hpp"

namespace memreplay {

#define MEMREPLAY_READER(identifier, file) ReaderInfo identifier##_reader();
#include "trace/readers.def"
#undef MEMREPLAY_READER

namespace {

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
  std::vector<std::string> known;
  for (const ReaderInfo& reader : all) known.emplace_back(reader.name);
  throw UsageError("unknown format '" + name + "'" + did_you_mean(name, known) +
                   " (memreplay list formats)");
}

const ReaderInfo& reader_for(const Input& input) {
  const auto all = readers();
  const auto found = std::ranges::find_if(all, [&](const auto& r) { return r.recognises(input); });
  if (found != all.end()) return *found;
  throw InputError(input.name, "",
                   "is of no known format; expected one of " + names(", ") +
                       ", plain or compressed by gzip or zstd (--format names one)");
}

}  // namespace

std::span<const ReaderInfo> readers() {
  static const std::array kReaders = {
#define MEMREPLAY_READER(identifier, file) identifier##_reader(),
#include "trace/readers.def"
#undef MEMREPLAY_READER
  };
  return kReaders;
}

Recording read_recording(const std::string& path, const ReadOptions& options) {
  // A wrong name is told before a long file is read.
  const ReaderInfo* named = options.format.empty() ? nullptr : &reader_named(options.format);
  const OpenedInput opened(path);
  Input input = opened.input();
  if (options.progress) {
    input.progress = [&](double share) { options.progress(path, share); };
  }
  const ReaderInfo& reader = named != nullptr ? *named : reader_for(input);
  if (!options.python_reader) return reader.read(input);
  if (reader.name != kTorchPickleFormat) {
    throw UsageError("the reader 'python' reads pickles only; " + path + " is of the format " +
                     std::string(reader.name));
  }
  return read_with_python(input);
}

void copy_recording(const std::string& path, const ReadOptions& options, ValueWriter& writer) {
  const ReaderInfo* named = options.format.empty() ? nullptr : &reader_named(options.format);
  const OpenedInput opened(path);
  const ReaderInfo& reader = named != nullptr ? *named : reader_for(opened.input());
  if (reader.copy == nullptr) {
    throw UsageError(path + ": a recording of the format " + std::string(reader.name) +
                     " has no addresses; name the strategy that gives them (-s torch)");
  }
  reader.copy(opened.input(), writer);
}

}  // namespace memreplay
