#include "trace/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

#define MEMREPLAY_WRITER(identifier, file) WriterInfo identifier##_writer();
#include "trace/writers.def"
#undef MEMREPLAY_WRITER

namespace {

// "NAME.pickle, NAME.json or NAME.csv"
std::string files_of(std::span<const WriterInfo* const> formats) {
  std::string text;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == formats.size() ? " or " : ", ";
    text += fmt::format("{}NAME{}", before, formats[i]->suffix);
  }
  return text;
}

const WriterInfo& writer_for_stdout() {
  return *std::ranges::find_if(writers(), &WriterInfo::for_stdout);
}

}  // namespace

std::span<const WriterInfo> writers() {
  static const std::array kWriters = {
#define MEMREPLAY_WRITER(identifier, file) identifier##_writer(),
#include "trace/writers.def"
#undef MEMREPLAY_WRITER
  };
  return kWriters;
}

const WriterInfo& writer_for(const std::string& path) {
  if (path == "-") return writer_for_stdout();
  std::vector<const WriterInfo*> all;
  for (const WriterInfo& writer : writers()) {
    if (path.ends_with(writer.suffix)) return writer;
    const bool listed = std::ranges::any_of(
        all, [&](const WriterInfo* other) { return other->suffix == writer.suffix; });
    if (!listed) all.push_back(&writer);
  }
  throw UsageError(fmt::format(
      "{}: the name does not end in a format that can be written; expected {}, or - for {} on "
      "standard output",
      path, files_of(all), writer_for_stdout().name));
}

const WriterInfo& writer_named(const std::string& format) {
  const auto found = std::ranges::find(writers(), format, &WriterInfo::format);
  if (found != writers().end()) return *found;
  std::vector<std::string> known;
  for (const WriterInfo& writer : writers()) known.emplace_back(writer.format);
  throw UsageError(fmt::format("--to is '{}'; expected {}{}", format, writable_formats(),
                               did_you_mean(format, known)));
}

std::string writable_formats() {
  std::string text;
  for (const WriterInfo& writer : writers()) {
    text += text.empty() ? "" : "|";
    text += writer.format;
  }
  return text;
}

std::string files_with_addresses() {
  std::vector<const WriterInfo*> formats;
  for (const WriterInfo& writer : writers()) {
    if (writer.needs_addresses) formats.push_back(&writer);
  }
  return files_of(formats);
}

}  // namespace memreplay
