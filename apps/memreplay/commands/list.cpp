#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/text.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "report/metric_names.hpp"
#include "strategy/registry.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Table table_of(std::vector<std::string> titles) {
  Table table;
  for (std::string& title : titles) table.columns.push_back({std::move(title), true});
  return table;
}

template <typename... Cells>
void add_row(Table& table, Cells... cells) {
  table.rows.push_back({std::string(cells)...});
}

Table list_strategies() {
  Table table = table_of({"strategy", "what it does"});
  for (const StrategyInfo& info : strategies()) add_row(table, info.name, info.summary);
  return table;
}

Table list_formats() {
  Table table = table_of({"format", "what it is"});
  for (const ReaderInfo& info : readers()) add_row(table, info.name, info.summary);
  return table;
}

Table list_metrics() {
  Table table = table_of({"metric", "on screen", "meaning"});
  for (const MetricName& name : metric_names()) add_row(table, name.key, name.word, name.meaning);
  return table;
}

Table options_of(const StrategyInfo& info) {
  Table table = table_of({"option", "values", "default", "meaning"});
  for (const OptionInfo& option : info.options) {
    add_row(table, option.key, option.values, option.default_value, option.sentence);
  }
  return table;
}

// The row of `name` alone.
Table only(Table table, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(row.front());
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw UsageError(fmt::format("unknown {} '{}'{}", table.columns.front().title, name,
                                 did_you_mean(name, names)));
  }
  table.rows = {table.rows[static_cast<std::size_t>(found - names.begin())]};
  return table;
}

std::string json_of(const std::string& what, const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t c = 0; c < row.size(); ++c) object[table.columns[c].title] = row[c];
    rows.push_back(std::move(object));
  }
  const nlohmann::ordered_json json = {
      {"schema", "memreplay/1"}, {"command", "list"}, {what, std::move(rows)}};
  return json.dump(2) + '\n';
}

std::string options_text(const StrategyInfo& info) {
  std::string out = fmt::format(" {}: {}\n", info.name, wrapped(info.summary, 1));
  if (info.options.empty()) return out + " It has no options.\n";
  for (const OptionInfo& option : info.options) {
    out += fmt::format("\n {}={}   default: {}\n     {}\n", option.key, option.values,
                       option.default_value, wrapped(option.sentence, 5));
  }
  return out;
}

}  // namespace

int run_list(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> given;
  ReportOptions reports;
  CommandLine line(command);
  line.positionals("WHAT", given);
  add_report_options(line, reports, true);
  line.parse(arguments);
  if (given.empty() || given.size() > 2) {
    throw UsageError(fmt::format("list what? (memreplay list {})", command.arguments));
  }
  Printer printer(reports);
  const std::size_t what = choice_argument("list", given[0], {"strategies", "formats", "metrics"});
  Table table = what == 0 ? list_strategies() : what == 1 ? list_formats() : list_metrics();
  if (given.size() == 2) table = only(std::move(table), given[1]);
  std::string text = text_table(table);
  if (what == 0 && given.size() == 2) {
    const auto all = strategies();
    const StrategyInfo& info = *std::find_if(
        all.begin(), all.end(), [&](const StrategyInfo& i) { return i.name == given[1]; });
    table = options_of(info);
    text = options_text(info);
  }
  printer.print(
      {[&] { return text; }, [&] { return json_of(given[0], table); }, [&] { return table; }});
  return kDone;
}

}  // namespace memreplay
