#include "report/formats/format.hpp"

#include "report/parts/escapes.hpp"

namespace memreplay {

#define MEMREPLAY_FORMAT(identifier, file) ReportFormat identifier##_format();
#include "registered/formats.def"
#undef MEMREPLAY_FORMAT

std::span<const ReportFormat> report_formats() {
  static const ReportFormat kFormats[] = {
#define MEMREPLAY_FORMAT(identifier, file) identifier##_format(),
#include "registered/formats.def"
#undef MEMREPLAY_FORMAT
  };
  return kFormats;
}

std::string answer_and_table(const std::string& text, const Table& table) {
  std::string answer = text.substr(0, text.find("\n\n"));
  answer.erase(0, answer.find_first_not_of(' '));
  return markdown_text(answer) + "\n\n" + markdown_table(table);
}

}  // namespace memreplay
