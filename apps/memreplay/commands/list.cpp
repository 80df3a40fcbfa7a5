#include <fmt/format.h>

#include <array>

#include "core/error.hpp"
#include "line/commands.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "questions/list/answer.hpp"
#include "questions/list/list_report.hpp"

namespace memreplay {

int run_list(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> given;
  ReportOptions reports;
  CommandLine line(command);
  line.positionals("WHAT", given);
  add_report_options(line, reports);
  line.parse(arguments);
  if (given.empty() || given.size() > 2) {
    throw UsageError(fmt::format("list what? (memreplay list {})", command.arguments));
  }
  using What = ListQuestion::What;
  constexpr std::array kWhat = {What::strategies, What::formats, What::metrics, What::cards,
                                What::workloads};
  Printer printer(reports);
  const std::size_t what = choice_argument(
      "list", given[0], {"strategies", "formats", "metrics", "cards", "workloads", "schema"});
  if (what == kWhat.size()) {
    if (given.size() == 2) throw UsageError("list schema takes no name");
    printer.print(SchemaAnswer{recorded_documents()});
    return kDone;
  }
  ListQuestion question{.what = kWhat.at(what)};
  if (given.size() == 2) question.name = given[1];
  printer.print(answer(question));
  return kDone;
}

}  // namespace memreplay
