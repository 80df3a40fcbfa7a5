#include <fmt/format.h>

#include "core/card.hpp"
#include "core/text.hpp"
#include "questions/explain/message_phrases.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

using Size = std::optional<RoundedBytes>;

std::string among(const Size& size, std::string_view what) {
  return size ? fmt::format("{} {}", human_size(size->bytes), what) : std::string();
}

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::string in(const std::optional<std::uint64_t>& count, const char* noun) {
  return count ? "in " + counted(*count, noun) : std::string();
}

// "rank 5, device 5"; empty where the message names neither.
std::string whose(const OomMessage& message) {
  return listed({message[Count::rank] ? fmt::format("rank {}", *message[Count::rank]) : "",
                 message[Count::gpu] ? fmt::format("device {}", *message[Count::gpu]) : ""});
}

// What stands beside a figure in the table of facts.
std::string note_of(const ExplainedMessage& e, Figure figure) {
  const OomMessage& m = e.message;
  const bool bfc = m.kind == "bfc";
  switch (figure) {
    case Figure::device:
      if (e.beyond_device) return "more is reserved: the rest is in host memory";
      if (e.contradicts) return "less than is free";
      return e.others && *e.others > 0 ? human_size(*e.others) + " of it outside the allocator"
                                       : "";
    case Figure::live:
      return listed({in(m[Count::live_blocks], bfc ? "chunk" : "block"),
                     among(m[Figure::live_requested], "of them requested"),
                     among(m[Figure::private_pools], "in private pools"),
                     among(m[Figure::live_peak], "at most")});
    case Figure::pending:
      return "freed, but another stream still uses it";
    case Figure::active_peak:
      return m[Figure::live_peak]
                 ? fmt::format(
                       "up to {} of it freed, but still used by a stream",
                       human_size(m[Figure::active_peak]->bytes - m[Figure::live_peak]->bytes))
                 : "";
    case Figure::reserved:
      return listed({in(m[Count::segments], bfc ? "region" : "segment"),
                     among(m[Figure::free_inside], "free inside"),
                     m[Figure::largest_free]
                         ? "largest hole " + human_size(m[Figure::largest_free]->bytes)
                         : "",
                     among(m[Figure::not_releasable], "not releasable"),
                     among(m[Figure::reserved_peak], "at most")});
    case Figure::device_free:
      return m.kind == "torch" ? "outside any segment" : "";
    case Figure::largest_buffer:
      return !m[OomWord::buffer].empty() ? m[OomWord::buffer]
             : m[OomWord::file].empty() || !m[Count::line]
                 ? ""
                 : fmt::format("{}:{} {}", m[OomWord::file], *m[Count::line], m[OomWord::shape]);
    default:
      return "";
  }
}

std::string facts(const ExplainedMessage& e) {
  const OomMessage& m = e.message;
  const std::string& allocator = m[OomWord::allocator];
  const std::string names = whose(m);
  std::string out =
      fmt::format("  {}{}{}{}{}\n", m.detail, allocator.empty() ? "" : " (" + allocator + ")",
                  names.empty() ? "" : ", ", names,
                  m.times > 1 ? fmt::format(", {} times", human_count(m.times)) : "");
  const auto line = [&](std::string_view name, Bytes bytes, const std::string& rest) {
    out += fmt::format("  {:<13}{:>10}{}{}\n", name, human_size(bytes), rest.empty() ? "" : "    ",
                       rest);
  };
  for (std::size_t i = 0; i < kFigures; ++i) {
    const auto figure = static_cast<Figure>(i);
    const std::string_view label = label_of(figure);
    if (m[figure] && !label.empty()) line(label, m[figure]->bytes, note_of(e, figure));
    if (figure != Figure::process) continue;
    for (const ProcessUse& process : m.processes) {
      const bool context = process.held.bytes <= kContextAndLibraries;
      line(fmt::format("process {}", process.id), process.held.bytes,
           context ? "no more than a CUDA context and libraries take" : "");
    }
  }
  return out;
}

void append_bins(Sheet& out, const OomMessage& message) {
  if (message.bins.empty()) return;
  Table table{{left(" Chunks from"), "chunks", "in use", "bytes", "bytes in use"}};
  for (const ChunkBin& bin : message.bins) {
    table.add("   " + human_size(bin.from), human_count(bin.chunks), human_count(bin.in_use),
              human_size(bin.size.bytes), human_size(bin.size_in_use.bytes));
  }
  out += '\n';
  append_table(out, table);
}

// A line for each message after the worst one.
void append_others(Sheet& out, const ExplainedDevice& device) {
  const std::size_t rows = device.explanation.rows;
  const auto& all = device.messages;
  for (std::size_t i = 1; i < all.size() && i <= rows; ++i) {
    if (i == 1) out += '\n';
    const std::string names = whose(all[i].message);
    const std::string times = all[i].message.times > 1
                                  ? fmt::format(" ({} times)", human_count(all[i].message.times))
                                  : "";
    append_paragraph(
        out,
        fmt::format("{}{}{}{}", names, names.empty() ? "" : ": ", message_sentence(all[i]), times),
        2);
  }
  if (all.size() > rows + 1) {
    append_paragraph(out, fmt::format("… and {} more messages", human_count(all.size() - rows - 1)),
                     2);
  }
}

void stated_fields(JsonFields& f, const OomMessage& m) {
  f.called("stated");
  for (std::size_t i = 0; i < kFigures; ++i) {
    if (!f.sometimes(m.figures[i].has_value())) continue;
    f(std::string(name_of(static_cast<Figure>(i))) + "_bytes",
      m.figures[i].value_or(RoundedBytes()).bytes, "as stated");
  }
  for (std::size_t i = 0; i < kCounts; ++i) {
    if (!f.sometimes(m.counts[i].has_value())) continue;
    f(name_of(static_cast<Count>(i)), m.counts[i].value_or(0), "as stated");
  }
  for (std::size_t i = 0; i < kWords; ++i) {
    if (!f.sometimes(!m.words[i].empty())) continue;
    f(name_of(static_cast<OomWord>(i)), m.words[i], "as stated");
  }
}

std::optional<std::string> text_of(const std::optional<WordingRelease>& release) {
  if (!release) return std::nullopt;
  return fmt::format("{}.{}", release->major, release->minor);
}

}  // namespace

void append_messages(Sheet& out, const ExplainedDevice& device) {
  const TextStyle& style = out.style();
  const ExplainedMessage& worst = device.messages.front();
  if (device.among_others) out += device.trace.path + '\n';
  const std::string said = wrapped(message_sentence(worst), 0, style.width);
  out += (device.explanation.at_oom ? red(said, style) : bold(said, style)) + "\n\n";
  out += facts(worst);
  append_bins(out, worst.message);
  append_others(out, device);
  out += '\n';
}

void fields(JsonFields& f, const ProcessUse& process) {
  f("pid", process.id, "process id");
  f("bytes", process.held.bytes, "what it holds");
}

void fields(JsonFields& f, const ChunkBin& bin) {
  f("from_bytes", bin.from, "the smallest size");
  f("chunks", bin.chunks, "how many");
  f("chunks_in_use", bin.in_use, "those that are live");
  f("bytes", bin.size.bytes, "all of them");
  f("bytes_in_use", bin.size_in_use.bytes, "the live ones");
}

void fields(JsonFields& f, const ExplainedMessage& e) {
  f.called("message");
  const OomMessage& m = e.message;
  f("source", m.kind, "the program that wrote it: torch, bfc, ...");
  f("verdict", name_of(e.cause), "why memory ran out; none: it reports no failure");
  f("sentence", message_sentence(e), "what the text says");
  f("sure", e.sure, "the verdict holds however the figures were rounded");
  f("missing", e.missing, "figures without which there is no verdict");
  f("spare_bytes", e.room, "beyond live memory and the request; negative: missing");
  f("says", Part{[&](JsonFields& stated) { stated_fields(stated, m); }}, "what it states");
  f("times", m.times, "how often the text has it");
  f("overflows", m.overflows, "figures beyond any device, as written");
  f("processes", m.processes, "that it names");
}

void worst_message_fields(JsonFields& f, const ExplainedMessage& e) {
  fields(f, e);
  f.called("worst_message");
  const OomMessage& m = e.message;
  const std::string sentence = message_sentence(e);
  f("others_bytes", e.others, "on the device, beyond what the allocator reserves");
  f("own_outside_bytes", e.own_outside, "held by its own process outside its allocator");
  f("beyond_device", e.beyond_device, "more is reserved than the device has");
  f("expandable_segments", m.expandable_segments, "it says that they are on");
  f("since", text_of(m.since), "the first release with its wording");
  f("until", text_of(m.until), "the last one");
  f("bins", m.bins, "chunks by classes of sizes");
  f("certain", only_if(e.sure, sentence), "the sentence, where it is sure");
  f("likely", only_if(!e.sure, sentence), "the sentence, where it is not");
  f("decides", unless_empty(message_decides(e)), "what the text lacks for a verdict");
  f("record", unless_empty(message_record(e)), "how a recording is made that has it");
}

}  // namespace memreplay
