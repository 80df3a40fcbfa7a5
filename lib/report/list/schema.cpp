#include <fmt/format.h>

#include "report/check/check.hpp"
#include "report/diff/diff.hpp"
#include "report/explain/explain.hpp"
#include "report/find/find.hpp"
#include "report/fit/fit.hpp"
#include "report/info/info.hpp"
#include "report/lint/lint.hpp"
#include "report/list/list.hpp"
#include "report/parts/json_fields.hpp"
#include "report/parts/json_parts.hpp"
#include "report/plan/plan.hpp"
#include "report/ranks/ranks.hpp"
#include "report/run/run.hpp"
#include "report/stress/stress.hpp"
#include "report/suggest/suggest.hpp"
#include "report/tune/tune.hpp"
#include "report/verify/verify.hpp"

namespace memreplay {
namespace {

/// The documents that a program may meet, each under a name of its own.
class Documents {
 public:
  template <typename Write>
  void add(const std::string& name, Write write) {
    JsonFields f(definitions_);
    write(f);
    f.called(name);
    any_.push_back(f.type().schema(""));
  }

  template <typename Answer>
  void add(const std::string& name) {
    add(name, [](JsonFields& f) { fields(f, Answer()); });
  }

  /// A result for each recording: alone where there is one, else several with the index of the
  /// worst. `rest` names what else stands beside several.
  template <typename Write, typename Rest>
  void add_results(const std::string& command, Write write, Rest rest) {
    add(command + "_result", write);
    add(command + "_results", [&](JsonFields& f) {
      head_fields(f, command);
      JsonType results{"array"};
      results.rest["items"]["$ref"] = "#/$defs/" + command + "_result";
      f.typed("results", nullptr, results, "a result for each recording and device");
      f("worst", std::optional<std::size_t>(), "the index of the worst; null: there is none");
      rest(f);
    });
  }

  template <typename Write>
  void add_results(const std::string& command, Write write) {
    add_results(command, write, [](JsonFields&) {});
  }

  template <typename Result>
  void add_results(const std::string& command) {
    add_results(command, [](JsonFields& f) { fields(f, Result()); });
  }

  Json schema() const {
    Json schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = "memreplay/1";
    schema["description"] =
        "What --json prints for check, compare, diff, explain, fit, info, lint, list, plan, ranks, "
        "record, replay, stress, suggest, tune and verify. Sizes are bytes; an unknown is null.";
    schema["anyOf"] = any_;
    schema["$defs"] = definitions_;
    return schema;
  }

 private:
  Json definitions_ = Json::object();
  Json any_ = Json::array();
};

TuneAnswer one_trace() {
  TuneAnswer answer;
  answer.traces.resize(1);
  answer.devices.resize(1);
  answer.model_checks.resize(1);
  answer.states_beyond.resize(1);
  return answer;
}

Json schema_of_all(const SchemaAnswer& answer) {
  Documents documents;
  documents.add_results("info", [](JsonFields& f) { info_fields(f, {}); });
  documents.add_results("replay", [](JsonFields& f) { replayed_fields(f, {}, false); });
  documents.add_results("compare", [](JsonFields& f) { replayed_fields(f, {}, true); });
  documents.add_results<VerifiedFile>("verify");
  documents.add_results(
      "tune", [](JsonFields& f) { tuned_fields(f, one_trace(), 0); },
      [](JsonFields& f) { best_field(f, one_trace()); });
  documents.add_results<ExplainedDevice>("explain");
  documents.add_results<FittedDevice>("fit");
  documents.add<FindAnswer>("fit_find");
  documents.add_results<PlannedDevice>("plan");
  documents.add_results<StressedDevice>("stress");
  documents.add_results<SuggestedDevice>("suggest");
  documents.add<CheckAnswer>("check");
  documents.add<UpdateAnswer>("check_update");
  documents.add<RecordingsAnswer>("diff_recordings");
  documents.add<StrategiesAnswer>("diff_strategies");
  documents.add<RanksAnswer>("ranks");
  documents.add<ListAnswer>("list");
  documents.add<LintAnswer>("lint");
  for (const auto& [name, write] : answer.further) documents.add(name, write);
  return documents.schema();
}

/// Indented JSON with an object or an array on one line where it fits.
std::string folded(const std::string& json) {
  constexpr std::size_t kColumns = 120;
  std::vector<std::string> lines;
  std::vector<std::size_t> open;  // lines that begin something
  for (std::string_view rest = json; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    lines.emplace_back(line);
    if (line.ends_with('{') || line.ends_with('[')) open.push_back(lines.size() - 1);
    const std::string_view text = line.substr(line.find_first_not_of(' '));
    if (text[0] != '}' && text[0] != ']') continue;
    const std::size_t begin = open.back();
    open.pop_back();
    std::string whole = lines[begin];
    for (std::size_t i = begin + 1; i < lines.size() && whole.size() <= kColumns; ++i) {
      const bool is_first = i == begin + 1;
      const bool is_last = i + 1 == lines.size();
      whole += is_first || is_last ? "" : " ";
      whole += lines[i].substr(lines[i].find_first_not_of(' '));
    }
    if (whole.size() > kColumns) continue;
    lines.resize(begin);
    lines.push_back(std::move(whole));
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace

std::string to_text(const SchemaAnswer& answer, const TextStyle&) { return to_json(answer); }

std::string to_json(const SchemaAnswer& answer) { return folded(dump(schema_of_all(answer))); }

}  // namespace memreplay
