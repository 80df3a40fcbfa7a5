#include "core/text.hpp"
#include "report/formats/format.hpp"

namespace memreplay {

ReportFormat csv_format() {
  return {.option = "--csv",
          .sentence = "The table as CSV.",
          .write = [](const ReportParts& parts) { return as_utf8(csv_table(parts.table())); }};
}

}  // namespace memreplay
