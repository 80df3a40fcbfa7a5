#include "report/explain/tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/table.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kDeepest = 16;
constexpr Bytes kLeastShare = 100;  ///< a branch of less than one part in so many has no row

class TreeRows {
 public:
  explicit TreeRows(const Explanation& e) : e_(e), least_(e.live_requested / kLeastShare) {}

  std::vector<std::vector<std::string>> rows() {
    add(*e_.tree, 0);
    return std::move(rows_);
  }

 private:
  void add(const std::vector<CallNode>& nodes, std::size_t depth) {
    PlaceSum rest;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const PlaceSum& sum = nodes[i].sum;
      const bool shown = i < e_.rows && sum.bytes >= least_ && depth < kDeepest;
      if (!shown) {
        rest.bytes += sum.bytes;
        rest.blocks += sum.blocks;
        ++left_out;
        continue;
      }
      add_row(shortened(sum.place), sum, depth);
      add(nodes[i].calls, depth + 1);
    }
    if (left_out > 0) add_row(fmt::format("… and {} more", human_count(left_out)), rest, depth);
  }

  void add_row(const std::string& text, const PlaceSum& sum, std::size_t depth) {
    rows_.push_back(
        {std::string(3 + 2 * depth, ' ') + text, human_size(sum.bytes), human_count(sum.blocks)});
  }

  const Explanation& e_;
  Bytes least_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

std::string shortened(const std::string& place) {
  constexpr std::size_t kMost = 54;
  return place.size() <= kMost ? place : place.substr(0, kMost) + "…";
}

std::string tree_text(const Explanation& e) {
  if (!e.tree || e.tree->empty()) return {};
  return '\n' + text_table({{{" What is live, below its callers", true}, {"bytes"}, {"blocks"}},
                            TreeRows(e).rows()});
}

void fields(JsonFields& f, const CallNode& node) {
  fields(f, node.sum);
  f.called("call_node");
  JsonType calls{"array"};
  calls.rest["items"]["$ref"] = "#/$defs/call_node";
  f.typed("calls", JsonFields::of(node.calls), calls, "what it calls, most bytes first");
}

}  // namespace memreplay
