#include "report/formats/format.hpp"

namespace memreplay {

ReportFormat json_format() {
  return {.option = "--json",
          .sentence = "JSON to standard output or a file.",
          .needs = ReportFormat::Needs::nothing,
          .write = [](const ReportParts& parts) { return parts.json(); }};
}

}  // namespace memreplay
