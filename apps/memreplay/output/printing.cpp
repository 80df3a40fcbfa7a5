#include "output/printing.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace memreplay {
namespace {

std::unique_ptr<OutputFile> opened(const std::optional<std::string>& path) {
  return path ? std::make_unique<OutputFile>(*path) : nullptr;
}

void write(const std::unique_ptr<OutputFile>& file, const std::function<std::string()>& content) {
  if (!file) return;
  file->stream() << content();
  file->commit();
}

}  // namespace

std::string answered(const std::string& text, const Table& table) {
  std::string answer = text.substr(0, text.find("\n\n"));
  answer.erase(0, answer.find_first_not_of(' '));
  return answer + "\n\n" + markdown_table(table);
}

Printer::Printer(const ReportOptions& options) : options_(options) {
  const auto paths = {&options.json, &options.csv, &options.markdown};
  if (std::count_if(paths.begin(), paths.end(), [](auto* path) { return *path == "-"; }) > 1) {
    throw UsageError("only one of --json, --csv and --markdown can go to standard output");
  }
  json_ = opened(options.json);
  csv_ = opened(options.csv);
  markdown_ = opened(options.markdown);
}

void Printer::print(const Report& report, bool text_on_stdout) {
  write(json_, report.json);
  write(csv_, [&] { return csv_table(report.table()); });
  write(markdown_,
        [&] { return report.markdown ? report.markdown() : markdown_table(report.table()); });
  const auto paths = {&options_.json, &options_.csv, &options_.markdown};
  const bool taken = std::any_of(paths.begin(), paths.end(), [](auto* p) { return *p == "-"; });
  if (text_on_stdout && !taken && !options_.quiet) write_stdout(report.text());
}

}  // namespace memreplay
