#include "extensions/page/brief.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/text.hpp"
#include "questions/explain/phrases.hpp"
#include "questions/settings/phrases.hpp"
#include "report/parts/escapes.hpp"
#include "report/parts/html.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kSites = 6;

/// A part of a device's memory: `kind` is its class in the style sheet.
struct Piece {
  std::string_view kind;
  std::string_view name;
  Bytes bytes;
  std::string said;
};

// From the lowest address of the bar on.
std::vector<Piece> pieces_of(const Explanation& e) {
  const Bytes outside = e.at_oom && e.room ? std::min(e.allowed, e.device_free) : 0;
  std::vector<Piece> pieces = {
      {"live", "live", e.live_requested, "in " + counted(e.live_blocks, "block")},
      {"tail", "rounding", e.live_allocated - std::min(e.live_allocated, e.live_requested), ""},
      {"pending", "pending", e.pending, "freed, waiting for another stream"},
      {"hole", "free inside", e.free_inside, "largest hole " + human_size(e.largest_free)},
      {"outside", "free outside", outside, "in no segment"}};
  std::erase_if(pieces, [&](const Piece& piece) { return piece.bytes <= e.reserved / 200; });
  return pieces;
}

double share(Bytes part, Bytes whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(std::max<Bytes>(whole, 1));
}

// What is there, and below it the refused request beside what is live: whether both fit is what the
// verdict says.
std::string bar(const Explanation& e, const std::vector<Piece>& pieces) {
  Bytes room = 0;
  for (const Piece& piece : pieces) room += piece.bytes;
  const Bytes live = e.too_much ? e.too_much->live : e.live_requested;
  const Bytes requested = !e.at_oom ? 0 : e.too_much ? e.too_much->requested : e.requested;
  const Bytes whole = std::max(room, live + requested);
  std::string out = "<div class=\"memory-bar\" aria-hidden=\"true\">\n<div>";
  for (const Piece& piece : pieces) {
    out += fmt::format("<i class=\"area {}\" style=\"width:{:.2f}%\"></i>", piece.kind,
                       share(piece.bytes, whole));
  }
  out += "</div>\n";
  if (requested > 0) {
    out += fmt::format(
        "<div><i class=\"area request\" style=\"margin-left:{:.2f}%;width:{:.2f}%\"></i></div>\n"
        "<b style=\"left:{:.2f}%\"></b>\n",
        share(live, whole), share(requested, whole), share(room, whole));
  }
  return out + "</div>\n";
}

std::string fact(std::string_view kind, std::string_view name, Bytes bytes,
                 const std::string& said) {
  const std::string sample =
      kind.empty() ? "" : fmt::format("<i class=\"area {}\"></i>", markup_text(kind));
  return fmt::format("<dt>{}{}</dt><dd><b>{}</b> {}</dd>\n", sample, name, human_size(bytes),
                     markup_text(said));
}

std::string moment_of(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  if (e.moment == Explanation::Moment::end) return "The end of the recording";
  if (!e.event) return "Before the first event";
  return fmt::format("Event {} of {}{}{}", human_count(*e.event), human_count(device.trace.events),
                     e.step > 0 ? fmt::format(", step {}", human_count(e.step)) : "",
                     e.at_oom ? fmt::format(", stream {}", device.streams[e.stream]) : "");
}

std::string what_failed(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  const std::vector<Piece> pieces = pieces_of(e);
  std::string facts;
  if (e.at_oom) {
    facts += fact("request", "request", e.requested, e.place.empty() ? "" : "by " + e.place);
  }
  if (e.too_much) {
    facts += fact("request", "later", e.too_much->requested,
                  fmt::format("at event {}, beside {} live", human_count(e.too_much->event),
                              human_size(e.too_much->live)));
  }
  for (const Piece& piece : pieces) facts += fact(piece.kind, piece.name, piece.bytes, piece.said);
  if (const auto whole = e.total ? e.total : e.room) facts += fact("", "device", *whole, "");
  using Moment = Explanation::Moment;
  const std::string_view title = e.at_oom                   ? "What failed"
                                 : e.moment == Moment::peak ? "The live peak"
                                                            : "The memory";
  return html_text("h2", title) + bar(e, pieces) + "<dl>" + facts + "</dl>\n" +
         html_text("p", moment_of(device), "quiet");
}

/// A call site's part of what is live, and the free memory beside its blocks.
struct Site {
  std::string place;
  Bytes live = 0;
  Bytes pinned = 0;
};

// Where holes are the reason those that keep most free memory come first.
std::vector<Site> sites_of(const Explanation& e) {
  std::vector<Site> sites;
  for (const PlaceSum& sum : e.live) sites.push_back({sum.place, sum.bytes, 0});
  for (const Pin& pin : e.pins.by_place) {
    const auto found = std::ranges::find(sites, pin.place, &Site::place);
    if (found == sites.end()) {
      sites.push_back({pin.place, 0, pin.pinned});
    } else {
      found->pinned = pin.pinned;
    }
  }
  if (e.cause == Cause::fragmentation) {
    std::ranges::stable_sort(sites, std::greater{}, &Site::pinned);
  }
  // Not those of a few bytes beside it.
  std::erase_if(sites,
                [&](const Site& site) { return site.live + site.pinned <= e.reserved / 200; });
  return sites;
}

std::string what_holds(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  const std::vector<Site> sites = sites_of(e);
  const bool by_holes = e.cause == Cause::fragmentation;
  std::string out = html_text("h2", "What holds the memory");
  if (sites.empty()) return out + html_text("p", "No call site holds much.", "quiet");
  out += fmt::format(
      "<div class=\"scrolls-wide\"><table class=\"sites\"><thead><tr><th>call "
      "site</th><th>live</th>"
      "{}</tr></thead><tbody>\n",
      by_holes ? "<th>free beside</th>" : "");
  for (const Site& site : std::span(sites).first(std::min(kSites, sites.size()))) {
    const double part = by_holes ? share(site.pinned, e.pins.pinned)
                                 : share(site.live, std::max(e.live_requested, site.live));
    out += fmt::format("<tr><td style=\"--share:{:.1f}%\">{}</td><td>{}</td>{}</tr>\n", part,
                       markup_text(site.place), human_size(site.live),
                       by_holes ? fmt::format("<td>{}</td>", human_size(site.pinned)) : "");
  }
  out += "</tbody></table></div>\n";
  if (sites.size() > kSites) {
    out += html_text("p", "and " + counted(sites.size() - kSites, "more call site"), "quiet");
  }
  return out;
}

// A line to paste where a setting helps, what to change in the program, and the commands for that.
std::string what_to_do(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  const std::optional<TuneResult>& tuned = device.tuned;
  const bool helps = tuned && tuned->helps && !tuned->shortage;
  const std::string found = advice(device, false);
  Sheet out({});
  if (helps) append_paragraph(out, found + '\n' + line_to_set_best(*tuned), 0);
  for (const Finding& finding : findings(device)) {
    if (finding.remedy.empty() || (helps && !e.fails)) continue;
    append_paragraph(out, finding.what + ". To fix: " + finding.remedy + '.', 0);
    break;
  }
  if (!helps) append_paragraph(out, found, 0);
  if (!e.shows_requests) {
    append_paragraph(out, "To see why, " + how_to_record(device.trace), 0);
  }
  const std::optional<Bytes> capacity = device.device.capacity ? device.device.capacity : e.room;
  if (e.fails) append_paragraph(out, other_program_sentence(device.trace.path, capacity), 0);
  if (out.empty()) append_paragraph(out, "Nothing failed, and no setting tried needs less.", 0);
  return html_text("h2", "What to do") + html_text("pre", out.text());
}

}  // namespace

std::string brief_of(const ExplainedDevice& device) {
  std::string out = "<div class=\"brief\">\n";
  for (const std::string& part : {what_failed(device), what_holds(device), what_to_do(device)}) {
    out += "<section>\n" + part + "</section>\n";
  }
  return out + "</div>\n";
}

}  // namespace memreplay
