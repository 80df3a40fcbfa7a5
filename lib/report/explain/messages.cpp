#include "report/explain/messages.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/explain/message_phrases.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

using Size = std::optional<RoundedBytes>;

Json bytes_json(const Size& size) { return size ? Json(size->bytes) : Json(nullptr); }

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
      if (e.beyond_device) return "more is reserved: the rest lies in host memory";
      return e.others && *e.others > 0 ? human_size(*e.others) + " of it outside the allocator"
                                       : "";
    case Figure::live:
      return listed({in(m[Count::live_blocks], bfc ? "chunk" : "block"),
                     among(m[Figure::live_requested], "of them asked for"),
                     among(m[Figure::private_pools], "in private pools"),
                     among(m[Figure::live_peak], "at most")});
    case Figure::pending:
      return "freed, but another stream still uses it";
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
      return m[OomWord::file].empty() || !m[Count::line]
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
      line(fmt::format("process {}", process.id), process.held.bytes, "");
    }
  }
  return out;
}

void append_bins(Sheet& out, const OomMessage& message) {
  if (message.bins.empty()) return;
  Table table{{{" Chunks from", true}, {"chunks"}, {"in use"}, {"bytes"}, {"bytes in use"}}, {}};
  for (const ChunkBin& bin : message.bins) {
    table.rows.push_back({"   " + human_size(bin.from), human_count(bin.chunks),
                          human_count(bin.in_use), human_size(bin.size.bytes),
                          human_size(bin.size_in_use.bytes)});
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

Json figures_json(const OomMessage& message) {
  Json figures = Json::object();
  for (std::size_t i = 0; i < kFigures; ++i) {
    if (!message.figures[i]) continue;
    figures[std::string(name_of(static_cast<Figure>(i))) + "_bytes"] = message.figures[i]->bytes;
  }
  for (std::size_t i = 0; i < kCounts; ++i) {
    if (message.counts[i])
      figures[std::string(name_of(static_cast<Count>(i)))] = *message.counts[i];
  }
  for (std::size_t i = 0; i < kWords; ++i) {
    if (!message.words[i].empty())
      figures[std::string(name_of(static_cast<OomWord>(i)))] = message.words[i];
  }
  return figures;
}

Json release_json(const std::optional<WordingRelease>& release) {
  return release ? Json(fmt::format("{}.{}", release->major, release->minor)) : Json(nullptr);
}

Json message_json(const ExplainedMessage& e) {
  const OomMessage& m = e.message;
  Json json = {{"source", m.kind},
               {"verdict", name_of(e.cause)},
               {"sentence", message_sentence(e)},
               {"sure", e.sure},
               {"missing", e.missing},
               {"spare_bytes", or_null(e.room)},
               {"says", figures_json(m)},
               {"times", m.times}};
  json["overflows"] = m.overflows;
  json["processes"] = Json::array();
  for (const ProcessUse& process : m.processes) {
    json["processes"].push_back({{"pid", process.id}, {"bytes", process.held.bytes}});
  }
  return json;
}

Json bins_json(const OomMessage& message) {
  Json bins = Json::array();
  for (const ChunkBin& bin : message.bins) {
    bins.push_back({{"from_bytes", bin.from},
                    {"chunks", bin.chunks},
                    {"chunks_in_use", bin.in_use},
                    {"bytes", bin.size.bytes},
                    {"bytes_in_use", bin.size_in_use.bytes}});
  }
  return bins;
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

Json messages_json(const ExplainedDevice& device) {
  const ExplainedMessage& worst = device.messages.front();
  const OomMessage& m = worst.message;
  Json json;
  const auto set = [&](const char* key, Figure figure) { json[key] = bytes_json(m[figure]); };
  set("requested_bytes", Figure::requested);
  set("asked_of_device_bytes", Figure::requested);
  set("device_bytes", Figure::device);
  set("device_free_bytes", Figure::device_free);
  set("live_requested_bytes", Figure::live_requested);
  set("live_allocated_bytes", Figure::live);
  set("pending_bytes", Figure::pending);
  set("reserved_bytes", Figure::reserved);
  set("free_inside_bytes", Figure::free_inside);
  set("largest_free_bytes", Figure::largest_free);
  const Size usable = sum_of(m[Figure::device_free], m[Figure::reserved]);
  json["usable_bytes"] = bytes_json(usable ? usable : m[Figure::limit]);
  json["spare_bytes"] = or_null(worst.room);
  json["oom_retries"] = or_null(m[Count::retries]);
  json["live_blocks"] = or_null(m[Count::live_blocks]);
  json["segments"] = or_null(m[Count::segments]);
  json["live_peak"] = {{"event", nullptr},
                       {"live_requested_bytes", nullptr},
                       {"live_allocated_bytes", bytes_json(m[Figure::live_peak])},
                       {"reserved_bytes", nullptr}};
  json["reserved_peak"] = {{"event", nullptr},
                           {"live_requested_bytes", nullptr},
                           {"reserved_bytes", bytes_json(m[Figure::reserved_peak])}};
  for (const char* unseen :
       {"pinned_bytes", "returnable_bytes", "kept_whole_bytes", "unplaced_blocks", "stream"}) {
    json[unseen] = nullptr;
  }
  Json message = message_json(worst);
  message["others_bytes"] = or_null(worst.others);
  message["own_outside_bytes"] = or_null(worst.own_outside);
  message["beyond_device"] = worst.beyond_device;
  message["expandable_segments"] = m.expandable_segments;
  message["since"] = release_json(m.since);
  message["until"] = release_json(m.until);
  message["bins"] = bins_json(m);
  const Json sentence = message["sentence"];
  message["certain"] = worst.sure ? sentence : Json(nullptr);
  message["likely"] = worst.sure ? Json(nullptr) : sentence;
  message["decides"] = text_or_null(message_decides(worst));
  message["record"] = text_or_null(message_record(worst));
  json["message"] = std::move(message);
  json["messages"] = Json::array();
  for (const ExplainedMessage& one : device.messages) json["messages"].push_back(message_json(one));
  return json;
}

}  // namespace memreplay
