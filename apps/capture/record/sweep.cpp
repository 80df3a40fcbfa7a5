#include "record/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "core/error.hpp"
#include "core/text.hpp"
#include "record/recording_folder.hpp"
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
  if (!first_out) return "No run ran out of memory.";
  const std::string out =
      fmt::format("{}={} is the first that runs out of memory", answer.name, first_out->value);
  if (!last) return out + ".";
  return fmt::format("{}; {}={} before it reserves {}.", out, answer.name, last->value,
                     human_size(last->worst()->metrics.peak_reserved));
}

/// How often `mark` was replaced.
std::size_t replace_all(std::string& text, const std::string& mark, const std::string& value) {
  std::size_t times = 0;
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
    ++times;
  }
  return times;
}

RecordQuestion with_value(RecordQuestion question, const Sweep& sweep, const std::string& value) {
  const std::string mark = "{" + sweep.name + "}";
  std::size_t used = 0;
  for (std::string& argument : question.program) used += replace_all(argument, mark, value);
  if (used == 0) {
    throw UsageError(
        fmt::format("--sweep: no argument of the program has {}; expected it where the "
                    "value is to stand",
                    mark));
  }
  if (replace_all(question.output, mark, value) == 0) {
    question.output = with_mark(question.output, sweep.name + value);
  }
  return question;
}

}  // namespace

Sweep sweep_argument(const std::string& text) {
  const std::size_t equals = text.find('=');
  Sweep sweep{.name = text.substr(0, equals), .values = {}};
  std::string rest = equals == text.npos ? "" : text.substr(equals + 1) + ",";
  while (!rest.empty()) {
    sweep.values.push_back(rest.substr(0, rest.find(',')));
    rest.erase(0, sweep.values.back().size() + 1);
  }
  const auto is_bad = [](const std::string& value) {
    return value.empty() || value.find('/') != value.npos;
  };
  if (sweep.name.empty() || sweep.values.empty() || std::ranges::any_of(sweep.values, is_bad)) {
    throw UsageError(fmt::format("--sweep is '{}'; expected NAME=VALUE,VALUE,…", text));
  }
  return sweep;
}

const Run* SweepPoint::worst() const {
  const Run* worst = nullptr;
  for (const TraceRuns& runs : answer.replays.traces) {
    if (runs.runs.empty()) continue;
    const Run& run = runs.runs.front();
    if (!worst || run.metrics.peak_reserved > worst->metrics.peak_reserved) worst = &run;
  }
  return worst;
}

std::uint64_t SweepPoint::ooms() const {
  std::uint64_t ooms = 0;
  for (const RecordedProcess& process : answer.processes) ooms += process.ooms;
  return ooms;
}

SweepAnswer answer(const RecordQuestion& question, const Sweep& sweep, const Cache& cache,
                   const Control& control, const std::function<void(const std::string&)>& before) {
  SweepAnswer answered{.name = sweep.name, .points = {}};
  for (const std::string& value : sweep.values) {
    const RecordQuestion one = with_value(question, sweep, value);
    before(value);
    answered.points.push_back({value, answer(one, cache, control)});
    const ProgramEnd& end = answered.points.back().answer.end;
    answered.interrupted = end.signal == SIGINT || end.status == 128 + SIGINT;
    if (answered.interrupted) break;
  }
  return answered;
}

Table to_table(const SweepAnswer& answer) {
  Table table{{left(answer.name),
               "peak requested",
               "peak allocated",
               "peak reserved",
               "OOM",
               "retries",
               "exit status",
               {"recording", true, 1}}};
  for (const SweepPoint& point : answer.points) {
    const Run* const run = point.worst();
    table.add(point.value, sized(run, &RunMetrics::peak_requested),
              sized(run, &RunMetrics::peak_allocated), sized(run, &RunMetrics::peak_reserved),
              human_count(point.ooms()), run ? human_count(run->metrics.oom_retries) : "-",
              point.answer.end.status, path_of(point));
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
  f("interrupted", answer.interrupted, "some runs are missing");
}

std::string to_json(const SweepAnswer& answer) { return dump(JsonFields::of(answer)); }

}  // namespace memreplay
