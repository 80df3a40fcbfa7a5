#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "record/sweep.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBar = 40;  ///< columns of the largest peak

bool ran_out(const SweepPoint& point) { return point.ooms() != 0; }

std::string path_of(const SweepPoint& point) {
  for (const RecordedProcess& process : point.answer.processes) {
    if (!process.path.empty()) return process.path;
  }
  return "-";
}

std::string sized(const Run* run, Bytes RunMetrics::*bytes) {
  return run ? human_size(run->metrics.*bytes) : "-";
}

/// Peaks side by side, to the largest one or the device.
std::string bars(const SweepAnswer& answer, const TextStyle& style) {
  Bytes most = 1;
  std::size_t width = 0;
  for (const SweepPoint& point : answer.points) {
    if (point.worst()) most = std::max(most, point.worst()->metrics.peak_reserved);
    if (point.answer.card) most = std::max(most, point.answer.card->total);
    width = std::max(width, point.value.size());
  }
  std::string text;
  for (const SweepPoint& point : answer.points) {
    const Bytes peak = point.worst() ? point.worst()->metrics.peak_reserved : 0;
    const auto columns =
        static_cast<std::size_t>(static_cast<double>(peak) * kBar / static_cast<double>(most));
    std::string bar;
    for (std::size_t i = 0; i < columns; ++i) bar += style.unicode ? "█" : "#";
    text += fmt::format(" {}={:<{}}  {}{}\n", answer.name, point.value, width, bar,
                        ran_out(point) ? (columns == 0 ? "OOM" : " OOM") : "");
  }
  return text;
}

std::string sentence(const SweepAnswer& answer) {
  const SweepPoint* last = nullptr;
  const SweepPoint* first_out = nullptr;
  for (const SweepPoint& point : answer.points) {
    if (ran_out(point)) {
      if (!first_out) first_out = &point;
    } else if (point.worst() && !first_out) {
      last = &point;
    }
  }
  if (!first_out) return "No run is out of memory.";
  const std::string out =
      fmt::format("{}={} is the first that runs out of memory", answer.name, first_out->value);
  if (!last) return out + ".";
  return fmt::format("{}; {}={} before it reserves {}.", out, answer.name, last->value,
                     human_size(last->worst()->metrics.peak_reserved));
}

}  // namespace

Table to_table(const SweepAnswer& answer) {
  Table table;
  table.columns = {
      {answer.name, true}, {"peak requested"}, {"peak allocated"},    {"peak reserved"}, {"OOM"},
      {"retries"},         {"exit status"},    {"recording", true, 1}};
  for (const SweepPoint& point : answer.points) {
    const Run* const run = point.worst();
    table.rows.push_back({point.value, sized(run, &RunMetrics::peak_requested),
                          sized(run, &RunMetrics::peak_allocated),
                          sized(run, &RunMetrics::peak_reserved), human_count(point.ooms()),
                          run ? human_count(run->metrics.oom_retries) : "-",
                          std::to_string(point.answer.end.status), path_of(point)});
  }
  return table;
}

std::string to_text(const SweepAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  append_table(out, to_table(answer));
  out += '\n';
  out += bars(answer, style);
  out += '\n';
  append_paragraph(out, sentence(answer));
  return out.text();
}

void fields(JsonFields& f, const SweepPoint& point) {
  std::vector<std::string_view> paths;
  for (const RecordedProcess& process : point.answer.processes) {
    if (!process.path.empty()) paths.push_back(process.path);
  }
  const Run* const run = point.worst();
  f("value", point.value, "of the parameter");
  f("exit_status", point.answer.end.status, "of the program; 128 and more: a signal");
  f("ooms", point.ooms(), "requests that were refused");
  f("paths", paths, "the recordings");
  f("run", run != nullptr ? std::optional(*run) : std::nullopt, "of the rank that reserves most");
}

void fields(JsonFields& f, const SweepAnswer& answer) {
  head_fields(f, "record");
  f("sweep", answer.name, "a parameter of the program's command line");
  f("points", answer.points, "a run of the program for each value");
  f("interrupted", answer.interrupted, "there would have been more");
}

std::string to_json(const SweepAnswer& answer) { return dump(JsonFields::of(answer)); }

}  // namespace memreplay
