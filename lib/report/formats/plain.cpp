#include "core/text.hpp"
#include "report/formats/format.hpp"

namespace memreplay {

ReportFormat csv_format() {
  return {.option = "--csv",
          .sentence = "The table as CSV.",
          .write = [](const ReportParts& parts) { return as_utf8(csv_table(parts.table())); }};
}

ReportFormat json_format() {
  return {.option = "--json",
          .sentence = "JSON to standard output or a file.",
          .needs = ReportFormat::Needs::nothing,
          .write = [](const ReportParts& parts) { return parts.json(); }};
}

ReportFormat markdown_format() {
  return {.option = "--markdown",
          .sentence = "The table as Markdown.",
          .for_people = true,
          .write = [](const ReportParts& parts) {
            return parts.markdown ? parts.markdown() : markdown_table(parts.table());
          }};
}

}  // namespace memreplay
