#include "extensions/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/page/brief.hpp"
#include "extensions/page/page_data.hpp"
#include "extensions/ranks/ranks_report.hpp"
#include "questions/explain/explain_report.hpp"
#include "questions/explain/phrases.hpp"
#include "questions/replay/replay_report.hpp"
#include "questions/tune/tune_report.hpp"
#include "report/parts/escapes.hpp"
#include "report/parts/html.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

// Made by the build: the page with {{names}} to fill in, and what they always are filled with.
extern const char kPageHtml[];
extern const char kPageStyle[];
extern const char kPageScript[];
extern const char kChartScript[];  // dygraphs
extern const char kChartStyle[];

namespace {

using Values = std::map<std::string_view, std::string>;

// Copies the page, with the values in place of the names; values are not looked into.
void fill_in(std::string_view page, const Values& values, std::ostream& out) {
  for (std::size_t at = 0;;) {
    const std::size_t open = page.find("{{", at);
    out << page.substr(at, open - at);
    if (open == std::string_view::npos) return;
    const std::size_t close = page.find("}}", open);
    out << values.at(page.substr(open + 2, close - open - 2));
    at = close + 2;
  }
}

// JSON inside of a script: no "</script>" and no "<!--".
std::string for_script(const Json& json) {
  std::string out;
  for (const char c : json.dump()) {
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return out;
}

std::string said_by_explain(const PageDevice& device) {
  return to_text(ExplainAnswer{.devices = {device.explained}}, {});
}

// What is shown of one device only; the scripts hide those of the others.
std::string of_device(std::size_t number, const std::string& content) {
  return fmt::format("<div data-device=\"{}\">\n{}</div>\n", number, content);
}

// `below`: a sentence about all devices stands above.
std::string headlines(const PageDevice& device, bool below, bool named) {
  const TraceSummary& trace = device.report.trace;
  const ExplainedDevice& explained = device.explained;
  const bool may_go_on = !explained.explanation.fails && explained.device.capacity;
  const std::string growth =
      leak_sentences(trace, may_go_on ? std::optional(explained.device.usable()) : std::nullopt);
  const std::string model = model_sentence(device.report);
  return html_text("p", verdict_sentence(explained), below ? "verdict" : "headline") +
         (growth.empty() ? "" : html_text("p", growth, "verdict")) +
         html_text("p",
                   fmt::format("{}{}: {}{}", named ? trace.path + ' ' : "", gpu_label(trace.gpu),
                               coverage_phrase(trace), model.empty() ? "" : "; " + model),
                   "quiet") +
         brief_of(explained);
}

std::string strategies(const PageDevice& device) {
  std::string out = html_table(run_table(device.report.runs), "Strategies in the order given");
  for (const std::string& sentence : comparison_sentences(device.report.runs)) {
    out += html_text("p", sentence);
  }
  for (const Run& run : device.report.runs) {
    for (const std::string& sentence :
         {oom_warning(run), inexact_sentence(run), served_sentence(run)}) {
      if (!sentence.empty()) out += html_text("p", sentence);
    }
    for (const std::string& remark : run.metrics.remarks) {
      out += html_text("p", fmt::format("{}: {}", run.name(), remark));
    }
  }
  return out;
}

std::string request_sizes(const TracePicture& trace) {
  std::vector<RequestClass> classes = trace.request_classes;
  std::ranges::stable_sort(classes, std::ranges::greater{}, &RequestClass::bytes);
  if (classes.empty()) return html_text("p", "No request is in the recording.", "quiet");
  double all = 1;
  for (const RequestClass& sized : classes) all += static_cast<double>(sized.bytes);
  Table table{{"from", "together", "of all bytes requested", "requests"}};
  for (const RequestClass& sized : classes) {
    table.add(human_size(sized.from), human_size(sized.bytes),
              fmt::format("{:.1f} %", 100 * static_cast<double>(sized.bytes) / all),
              human_count(sized.requests));
  }
  return html_table(table, "Requests of the whole recording, by size");
}

std::string tuned(const PageDevice& device) {
  const ExplainedDevice& explained = device.explained;
  if (!explained.tuned) return html_text("p", "No other setting was tried.", "quiet");
  const TuneAnswer report{.traces = {explained.trace},
                          .devices = {device.report.device},
                          .model_checks = {explained.model_check},
                          .result = *explained.tuned,
                          .late = explained.late};
  const bool exact = report.result.outcomes[report.result.best].is_exact();
  return html_text("pre", to_text(report, {})) +
         html_text("p",
                   exact ? "A short search; memreplay tune tries more settings."
                         : "A short search of estimates; memreplay tune tries more settings.",
                   "quiet");
}

std::string sections(const PageAnswer& page) {
  const auto section = [&](const char* title, auto&& of) {
    std::string out = html_text("h2", title);
    for (std::size_t d = 0; d < page.devices.size(); ++d) out += of_device(d, of(page.devices[d]));
    return "<section>\n" + out + "</section>\n";
  };
  const std::string ranks = page.ranks
                                ? "<section>\n" + html_text("h2", "Ranks") +
                                      html_text("pre", ranks_rows(*page.ranks, {})) + "</section>\n"
                                : "";
  return ranks + section("Allocators", strategies) +
         section("Why: the answer of explain",
                 [](const PageDevice& d) { return html_text("pre", said_by_explain(d)); }) +
         section("What helps: the answer of tune", tuned) +
         section("Sizes of requests",
                 [](const PageDevice& device) { return request_sizes(device.trace); }) +
         section("Settings", [](const PageDevice& device) {
           std::string out;
           for (const std::string& line : device.settings) out += html_text("p", line);
           return out;
         });
}

std::string title_of(const PageAnswer& page) {
  std::string title = page.devices.front().report.trace.path;
  const bool several = page.devices.size() > 1;
  return several ? fmt::format("{} and {}", title, counted(page.devices.size() - 1, "more device"))
                 : title;
}

}  // namespace

void write_page(const PageAnswer& page, std::string_view version, std::ostream& out) {
  const PageData data = page_data(page);
  std::string left_out =
      data.left_out.empty() ? html_text("p", "Every event; nothing is left out.") : std::string();
  for (const std::string& sentence : data.left_out) left_out += html_text("p", sentence);
  std::string texts;
  for (const auto& [id, text] : data.texts) {
    texts += fmt::format("<script type=\"text/plain\" id=\"{}\">{}</script>\n", id, text);
  }
  std::string heads;
  if (page.ranks) heads += html_text("p", ranks_sentence(*page.ranks), "headline");
  for (std::size_t d = 0; d < page.devices.size(); ++d) {
    heads +=
        of_device(d, headlines(page.devices[d], page.ranks.has_value(), page.devices.size() > 1));
  }
  fill_in(kPageHtml,
          {{"title", markup_text(title_of(page))},
           {"headlines", heads},
           {"sections", sections(page)},
           {"left-out", left_out},
           {"version", markup_text(std::string(version))},
           {"data", for_script(data.description)},
           {"blobs", texts},
           {"style", kPageStyle},
           {"script", kPageScript},
           {"charts", kChartScript},
           {"chart-style", kChartStyle}},
          out);
}

}  // namespace memreplay
