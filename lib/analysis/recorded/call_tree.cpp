#include "analysis/recorded/call_tree.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace memreplay {
namespace {

struct Branch {
  PlaceSum sum;
  std::map<std::string, Branch> calls;
};

std::vector<CallNode> sorted(std::map<std::string, Branch>& branches) {
  std::vector<CallNode> nodes;
  for (auto& [place, branch] : branches) {
    branch.sum.place = place;
    nodes.push_back({branch.sum, sorted(branch.calls)});
  }
  std::ranges::sort(nodes, [](const CallNode& a, const CallNode& b) {
    return std::tie(b.sum.bytes, a.sum.place) < std::tie(a.sum.bytes, b.sum.place);
  });
  return nodes;
}

}  // namespace

std::vector<CallNode> call_tree(const std::vector<LiveBlock>& blocks, const Places& places) {
  std::map<Asker, PlaceSum> sums;
  for (const LiveBlock& block : blocks) {
    PlaceSum& sum = sums[block.asker];
    sum.bytes += block.requested;
    ++sum.blocks;
  }
  std::map<std::string, Branch> roots;
  for (const auto& [asker, sum] : sums) {
    std::map<std::string, Branch>* level = &roots;
    for (const std::string& place : places.calls(asker)) {
      Branch& branch = (*level)[place];
      branch.sum.bytes += sum.bytes;
      branch.sum.blocks += sum.blocks;
      level = &branch.calls;
    }
  }
  return sorted(roots);
}

}  // namespace memreplay
