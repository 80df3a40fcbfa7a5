#include "report/find/find.hpp"
#include "report/find/phrases.hpp"
#include "report/find/plot.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

void append_found(Sheet& out, const FindAnswer& answer, const FoundValue& found) {
  const TextStyle& style = out.style();
  out += '\n';
  if (answer.found.size() > 1) append_paragraph(out, found_name(found) + ":");
  if (answer.plotted) {
    out += value_plot(found, answer.facts.name, style.unicode, out.width());
    out += '\n';
  }
  append_table(out, curve_table(found, answer.facts));
}

}  // namespace

std::string to_text(const FindAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  for (const std::string& sentence : found_sentences(answer)) append_paragraph(out, sentence);
  if (answer.found.size() > 1) {
    out += '\n';
    append_table(out, largest_table(answer));
  }
  for (const FoundValue& found : answer.found) append_found(out, answer, found);
  if (!answer.held_back.empty()) {
    out += '\n';
    append_paragraph(out, held_back_sentence(answer));
    append_table(out, held_back_table(answer));
  }
  out += '\n';
  for (const std::string& sentence : closing_sentences(answer)) append_paragraph(out, sentence);
  return out.text();
}

}  // namespace memreplay
