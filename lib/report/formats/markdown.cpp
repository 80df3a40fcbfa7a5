#include "report/formats/format.hpp"

namespace memreplay {

ReportFormat markdown_format() {
  return {.option = "--markdown",
          .sentence = "The table as Markdown.",
          .for_people = true,
          .write = [](const ReportParts& parts) {
            return parts.markdown ? parts.markdown() : markdown_table(parts.table());
          }};
}

}  // namespace memreplay
