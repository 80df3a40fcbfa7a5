#pragma once

#include <vector>

#include "analysis/ranks/answer.hpp"

namespace memreplay {

/// The ranks by what they ask for, the largest class first; each of the others with the larger one
/// with which it goes together the longest. `rows` by rank, the streams of all of them. Throws
/// InputError where a stream is damaged.
std::vector<RankClass> classes_of(const std::vector<RankRow>& rows,
                                  const std::map<Hash128, RanksPart::Stream>& streams);

/// Classes of neighbouring ranks, as many in each, that look like the stages of a pipeline; those
/// that departed stand with their neighbours. Empty where they do not. `peak_of` of a rank.
std::vector<RankStage> stages_of(const std::vector<RankClass>& classes,
                                 const std::map<std::uint64_t, Bytes>& peak_of);

}  // namespace memreplay
