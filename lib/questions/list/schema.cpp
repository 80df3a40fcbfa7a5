#include <fmt/format.h>

#include "questions/check/check_report.hpp"
#include "questions/explain/explain_report.hpp"
#include "questions/fit/fit_report.hpp"
#include "questions/info/info_report.hpp"
#include "questions/lint/lint_report.hpp"
#include "questions/list/list_report.hpp"
#include "questions/replay/replay_report.hpp"
#include "questions/tune/tune_report.hpp"
#include "questions/verify/verify_report.hpp"
#include "report/parts/documents.hpp"
#include "report/parts/json_fields.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

#define MEMREPLAY_DOCUMENTS(name, file) void name##_documents(Documents&);
#include "registered/documents.def"
#undef MEMREPLAY_DOCUMENTS

namespace {

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
  documents.add<CheckAnswer>("check");
  documents.add<UpdateAnswer>("check_update");
  documents.add<ListAnswer>("list");
  documents.add<LintAnswer>("lint");
#define MEMREPLAY_DOCUMENTS(name, file) name##_documents(documents);
#include "registered/documents.def"
#undef MEMREPLAY_DOCUMENTS
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
