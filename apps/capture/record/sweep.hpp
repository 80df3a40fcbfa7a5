#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/session.hpp"
#include "report/parts/table.hpp"

namespace memreplay {

/// A parameter of the program's command line, and what it is to be.
struct Sweep {
  std::string name;
  std::vector<std::string> values;
};

/// "batch=1,2,4,8". Throws UsageError.
Sweep sweep_argument(const std::string& text);

/// One run of the program, by the rank that reserves most.
struct SweepPoint {
  std::string value;
  RecordAnswer answer;

  const Run* worst() const;  ///< null: nothing was recorded
  std::uint64_t ooms() const;
};

struct SweepAnswer {
  std::string name;
  std::vector<SweepPoint> points;
  bool interrupted = false;
};

/// Runs the program once for each value, which stands for {NAME} in its arguments and in the
/// output; where that has no {NAME}, NAME and the value stand before its ending. A run that is
/// ended by Ctrl-C is the last one. `before` gets each value. Throws UsageError where no argument
/// has {NAME}.
SweepAnswer answer(const RecordQuestion& question, const Sweep& sweep, const Cache& cache,
                   const Control& control, const std::function<void(const std::string&)>& before);

std::string to_text(const SweepAnswer& answer, const TextStyle& style);
std::string to_json(const SweepAnswer& answer);
Table to_table(const SweepAnswer& answer);
void fields(JsonFields& f, const SweepAnswer& answer);

}  // namespace memreplay
