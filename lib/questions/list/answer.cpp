#include "questions/list/answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "metrics/metrics.hpp"
#include "questions/fit/fit.hpp"
#include "strategy/registry.hpp"
#include "trace/reader.hpp"
#include "trace/workloads.hpp"

namespace memreplay {
namespace {

template <typename... Cells>
void add_row(ListAnswer& answer, Cells... cells) {
  answer.rows.push_back({std::string(cells)...});
}

ListAnswer all_strategies() {
  ListAnswer answer{.what = "strategies", .titles = {"strategy", "what it does"}};
  for (const StrategyInfo& info : strategies()) add_row(answer, info.name, info.summary);
  return answer;
}

ListAnswer all_formats() {
  ListAnswer answer{.what = "formats", .titles = {"format", "what it is"}};
  for (const ReaderInfo& info : readers()) add_row(answer, info.name, info.summary);
  return answer;
}

ListAnswer all_metrics() {
  ListAnswer answer{.what = "metrics", .titles = {"metric", "on screen", "meaning"}};
  for (const Metric& metric : metrics()) {
    if (metric.in_json) add_row(answer, metric.key, metric.word, metric.meaning);
  }
  return answer;
}

ListAnswer all_cards() {
  const auto usual = [](CardLibrary library) { return use_of(library).usual; };
  const Bytes computing = kContext + usual(CardLibrary::kernels) + usual(CardLibrary::cublas);
  ListAnswer answer{.what = "cards",
                    .titles = {"card", "total", "usable beside a CUDA context",
                               "beside kernels and cuBLAS too", "and NCCL"}};
  for (const Card& card : cards()) {
    add_row(answer, card.name, exact_size(card.total), exact_size(card.total - kContext),
            exact_size(card.total - computing),
            exact_size(card.total - computing - usual(CardLibrary::nccl)));
  }
  answer.note = fmt::format(
      "Totals are those that CUDA programs print under Linux; drivers differ by up to 2 %. Set "
      "aside are {} for the CUDA context, {} for kernels, {} for cuBLAS, {} for cuDNN and {} for "
      "NCCL, as record --virtual-gpu has it; fit counts those that a recording shows. Real cards "
      "take less or more: a context about 2 KiB for each thread that the card can run, {} on an "
      "H100, a backward pass there {} for cuBLAS beside that. fit answers with bounds that cover "
      "it; --reserve sets a size. Part of a name is enough: fit --device-name 4090.",
      human_size(kContext), human_size(usual(CardLibrary::kernels)),
      human_size(usual(CardLibrary::cublas)), human_size(usual(CardLibrary::cudnn)),
      human_size(usual(CardLibrary::nccl)), human_size(kMeasuredContext),
      human_size(use_of(CardLibrary::cublas).most - usual(CardLibrary::cublas)));
  return answer;
}

ListAnswer all_workloads() {
  ListAnswer answer{.what = "workloads", .titles = {"workload", "what it is"}};
  for (const WorkloadInfo& info : workloads()) add_row(answer, info.name, info.summary);
  return answer;
}

ListAnswer all_of(ListQuestion::What what) {
  using What = ListQuestion::What;
  switch (what) {
    case What::strategies:
      return all_strategies();
    case What::formats:
      return all_formats();
    case What::metrics:
      return all_metrics();
    case What::workloads:
      return all_workloads();
    default:
      return all_cards();
  }
}

void add_columns(ListAnswer& answer, const ReaderInfo& reader) {
  for (const ColumnInfo& column : reader.columns) {
    answer.columns.push_back(
        {std::string(column.name), std::string(column.aliases), std::string(column.meaning)});
  }
}

/// The options of a strategy or a workload.
template <typename Info>
ListAnswer options_of(const Info& info, std::string what) {
  ListAnswer answer{.what = std::move(what),
                    .titles = {"option", "values", "default", "meaning"},
                    .options_of = std::string(info.name),
                    .summary = std::string(info.summary)};
  for (const OptionInfo& option : info.options) {
    add_row(answer, option.key, option.values, option.default_value, option.sentence);
  }
  return answer;
}

void keep_only(ListAnswer& answer, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& row : answer.rows) names.push_back(row.front());
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw UsageError(
        fmt::format("unknown {} '{}'{}", answer.titles.front(), name, did_you_mean(name, names)));
  }
  answer.rows = {answer.rows[static_cast<std::size_t>(found - names.begin())]};
}

}  // namespace

ListAnswer answer(const ListQuestion& question) {
  using What = ListQuestion::What;
  ListAnswer answer = all_of(question.what);
  if (!question.name) return answer;
  if (question.what == What::cards) {
    const std::string_view card = card_named(*question.name).card.name;
    std::erase_if(answer.rows, [&](const auto& row) { return row.front() != card; });
    return answer;
  }
  if (question.what == What::strategies) {
    const std::string meant = strategy_known_as(*question.name).value_or(*question.name);
    const std::string name = meant.substr(0, meant.find(':'));
    keep_only(answer, name);
    return options_of(strategy_info(name), answer.what);
  }
  keep_only(answer, *question.name);
  if (question.what == What::workloads) {
    return options_of(*std::ranges::find(workloads(), *question.name, &WorkloadInfo::name),
                      answer.what);
  }
  if (question.what == What::formats) {
    add_columns(answer, *std::ranges::find(readers(), *question.name, &ReaderInfo::name));
  }
  return answer;
}

}  // namespace memreplay
