#include "record/told.hpp"

#include <nlohmann/json.hpp>

#include "trace/json/json_node.hpp"

namespace memreplay {
namespace {

VirtualFacts virtual_facts(const JsonNode& node) {
  VirtualFacts facts;
  facts.reads = node.at("reads").whole();
  for (const JsonNode& place : node.at("read_at").elements()) {
    facts.read_at.push_back({place.at("file").text(), place.at("line").whole(),
                             place.at("function").text(), place.at("times").whole()});
  }
  for (const JsonNode& workspace : node.at("workspaces").elements()) {
    facts.workspaces.push_back({workspace.at("function").text(), workspace.at("times").whole(),
                                workspace.at("largest_bytes").whole()});
  }
  facts.oldest_code = node.at("oldest_code").whole();
  facts.requests = node.at("requests").whole();
  facts.refusals = node.at("refusals").whole();
  for (const JsonNode& refusal : node.at("first_refusals").elements()) {
    facts.first_refusals.push_back({refusal.at("request").whole(), refusal.at("bytes").whole()});
  }
  for (const auto& [name, times] : node.at("neutral_calls").members()) {
    facts.neutral_calls[name] = times.whole();
  }
  return facts;
}

}  // namespace

RecordedProcess told_in(const std::filesystem::path& file) {
  const std::string path = file.string();
  const auto json = parse_json(path, text_of_file(path), "what a recorded process tells");
  const JsonNode node(path, "", *json);
  RecordedProcess process{.pid = node.at("pid").whole(),
                          .torch = node.at("torch").text(),
                          .used_cuda = node.at("used_cuda").whole() != 0,
                          .ooms = node.at("ooms").whole(),
                          .steps = node.at("steps").whole(),
                          .own_switches = node.at("own_switches").whole()};
  if (node.has("rank")) process.rank = node.at("rank").whole();
  if (node.has("virtual")) process.virtual_gpu = virtual_facts(node.at("virtual"));
  return process;
}

}  // namespace memreplay
