#include "output/printing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "output/terminal.hpp"

namespace memreplay {
namespace {

// "--json, --csv and --markdown"
std::string all_options() {
  const auto formats = report_formats();
  std::string out;
  for (const ReportFormat& format : formats) {
    const bool last = &format == &formats.back();
    out += fmt::format("{}{}", out.empty() ? "" : last ? " and " : ", ", format.option);
  }
  return out;
}

}  // namespace

Printer::Printer(const ReportOptions& options) : options_(options) {
  if (std::ranges::count_if(options.files, &OutputPath::is_stdout, &ReportOptions::File::path) >
      1) {
    throw UsageError(fmt::format("only one of {} can go to standard output", all_options()));
  }
  for (const ReportOptions::File& file : options.files) files_.emplace_back(file.path);
}

void Printer::print_parts(const ReportParts& parts, bool text_on_stdout) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    files_[i].stream() << options_.files[i].format->write(parts);
    files_[i].commit();
  }
  if (text_on_stdout && shows_text()) {
    write_stdout(parts.text(terminal_style()));
  }
}

}  // namespace memreplay
