#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

using McpJson = nlohmann::ordered_json;

/// What clients may set of a command.
struct McpParameter {
  enum class Kind { file, folder, text, number, texts };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view option;  ///< the command's; empty: it stands alone
  std::string_view description;
};

/// A command that clients may ask.
struct McpTool {
  std::string_view command;
  std::string_view description;
  std::vector<McpParameter> parameters;  ///< the first is required
  std::vector<std::string> always;       ///< arguments that it always has
};

const std::vector<McpTool>& mcp_tools();

/// As tools/list has it.
McpJson listed(const McpTool& tool);

}  // namespace memreplay
