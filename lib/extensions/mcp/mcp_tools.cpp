#include "extensions/mcp/mcp_tools.hpp"

namespace memreplay {

const std::vector<McpTool>& mcp_tools() {
  using Kind = McpParameter::Kind;
  static const McpParameter kTrace{"trace", Kind::file, "", "Path of the recording."};
  static const McpParameter kCapacity{
      "capacity", Kind::text, "--capacity",
      "Memory of the device, such as 24GiB; none: no limit. Default: "
      "that of the recorded failure."};
  static const std::vector<McpTool> kTools = {
      {"explain",
       "Why did the GPU run out of memory: fragmentation or shortage, what holds the memory, and "
       "which line of code. Also reads logs with out-of-memory messages.",
       {kTrace,
        {"at", Kind::text, "--at",
         "oom, peak, reserved-peak or an event. Default: oom, else peak."},
        kCapacity},
       {"--top=5"}},
      {"tune",
       "Which PYTORCH_CUDA_ALLOC_CONF avoids the failure or reserves least, as a line to paste.",
       {kTrace,
        {"seconds", Kind::number, "--seconds",
         "Start no more replays after this many seconds. Default: 20."},
        kCapacity},
       {"--seconds=20"}},
      {"fit",
       "The smallest device on which the recorded program runs, or whether named cards suffice.",
       {kTrace,
        {"cards", Kind::text, "--device-name", "Cards to judge, such as T4,a100-40gb."},
        {"capacity", Kind::text, "--capacity", "A size to judge, such as 24GiB."}},
       {}},
      {"suggest",
       "What to change in the program so that it fits: layers to checkpoint, activations to "
       "offload, with the lines to write.",
       {kTrace,
        {"budget", Kind::text, "--budget",
         "Memory that it has to fit in, such as 24GiB. Default: the device of the recorded "
         "failure."}},
       {}},
      {"compare",
       "Peaks and failures under several allocator settings side by side.",
       {kTrace,
        {"settings", Kind::texts, "--alloc-conf",
         "Values of PYTORCH_CUDA_ALLOC_CONF. Default: the usual choices."},
        kCapacity},
       {}},
      {"ranks",
       "Recordings of many ranks: which ran out of memory or needs most, and where one diverges.",
       {{"folder", Kind::folder, "", "Folder with one recording of each rank."}, kCapacity},
       {}},
      {"info",
       "What a recording covers (events, peaks, failures, settings), and whether it can be "
       "trusted.",
       {kTrace},
       {}},
  };
  return kTools;
}

namespace {

McpJson schema_of(const McpParameter& parameter) {
  using Kind = McpParameter::Kind;
  McpJson schema{{"type", parameter.kind == Kind::number  ? "integer"
                          : parameter.kind == Kind::texts ? "array"
                                                          : "string"}};
  if (parameter.kind == Kind::number) schema["minimum"] = 1;
  if (parameter.kind == Kind::texts) schema["items"] = {{"type", "string"}};
  schema["description"] = parameter.description;
  return schema;
}

}  // namespace

McpJson listed(const McpTool& tool) {
  McpJson properties = McpJson::object();
  for (const McpParameter& parameter : tool.parameters) {
    properties[std::string(parameter.name)] = schema_of(parameter);
  }
  return {{"name", tool.command},
          {"description", tool.description},
          {"inputSchema",
           {{"type", "object"},
            {"properties", properties},
            {"required", {tool.parameters.front().name}},
            {"additionalProperties", false}}},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

}  // namespace memreplay
