#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/tune/answer.hpp"
#include "verify/subject.hpp"

/// Sentences without which the figures of a search would mislead.
namespace memreplay {

/// What inserted calls do by themselves, of replays: before anything is estimated. Empty where none
/// were inserted.
std::string insertions_remark(const TuneResult& result);

/// What the reader must know beside the numbers of a search, at its end.
std::vector<std::string> search_remarks(const std::vector<const Subject*>& subjects,
                                        const std::set<std::string>& forbidden,
                                        const TuneResult& result);

}  // namespace memreplay
