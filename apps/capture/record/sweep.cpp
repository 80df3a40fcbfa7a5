#include "record/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "core/error.hpp"
#include "record/recording_folder.hpp"

namespace memreplay {
namespace {

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

}  // namespace memreplay
