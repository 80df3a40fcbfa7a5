#pragma once

#include <string>

#include "metrics/made_facts.hpp"

namespace memreplay {

/// "checkpoint:function=attn frees 66 blocks (300 MiB) early and asks for 250 MiB again, in 200
/// requests"
std::string edit_phrase(const EditFacts& edit);

}  // namespace memreplay
