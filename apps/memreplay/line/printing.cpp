#include "line/printing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "line/terminal.hpp"
#include "report/parts/text_style.hpp"

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

// Data stay as they are, unless a terminal would read them.
bool for_terminal(const ReportOptions::File& file) {
  return file.format->for_people || (file.path.is_stdout() && stdout_is_terminal());
}

// A file for people is read by more than this terminal.
TextStyle style_of(const ReportOptions::File& file) {
  const bool here = file.format->for_people && file.path.is_stdout();
  return {.colour = false, .unicode = !here || terminal_style().unicode};
}

}  // namespace

Printer::Printer(const ReportOptions& options) : options_(options) {
  if (std::ranges::count_if(options.files, &OutputPath::is_stdout, &ReportOptions::File::path) >
      1) {
    throw UsageError(fmt::format("only one of {} can go to standard output", all_options()));
  }
  for (const ReportOptions::File& file : options.files) files_.emplace_back(file.path);
}

bool Printer::shows_text() const {
  return command_host() == nullptr && !options_.quiet && !options_.takes_stdout();
}

void Printer::print_parts(const ReportParts& parts, bool text_on_stdout) {
  if (command_host() != nullptr) command_host()->answered(parts);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const ReportOptions::File& file = options_.files[i];
    if (file.format->needs == ReportFormat::Needs::table && !parts.table && !parts.markdown) {
      throw UsageError(
          fmt::format("{} writes a table, and this answer has none", file.format->option));
    }
    const std::string written = file.format->write(parts);
    files_[i].write([&](std::ostream& out) {
      out << (for_terminal(file) ? terminal_text(written, style_of(file)) : written);
    });
  }
  if (text_on_stdout && shows_text()) {
    const TextStyle style = terminal_style(options_.colour);
    write_stdout(parts.text(style), style);
  }
}

}  // namespace memreplay
