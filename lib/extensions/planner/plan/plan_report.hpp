#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "extensions/planner/plan/answer.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// For each device: how high the plan is and how low any can be, or what cannot be placed together.
std::string to_text(const PlanAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with the bounds, the height and what it was found by.
std::string to_json(const PlanAnswer& answer);

/// What the text says with pictures of every plan, time from left to right and addresses upwards,
/// as one file of HTML that fetches nothing and runs nothing.
void write_page(const PlanAnswer& answer, std::ostream& out);

/// A row for each buffer, as MiniMalloc has them: id,lower,upper,size,offset, and of several
/// memories the memory's name. The header alone where nothing is placed.
void write_placements(const PlannedDevice& device, std::ostream& out);

/// The keys of its JSON.
void fields(JsonFields& f, const PlannedDevice& device);

/// In one picture: more make a page that browsers do not like.
inline constexpr std::size_t kMostBuffersDrawn = 50'000;

/// The plan of one memory as SVG: time from left to right, addresses from 0 upwards. Where it holds
/// more than kMostBuffersDrawn, those with most bytes times life. Returns how many are drawn.
std::size_t draw_plan(const PlannedDevice& device, std::size_t memory, std::ostream& out);

}  // namespace memreplay
