#pragma once

#include <string>
#include <vector>

#include "metrics/made_facts.hpp"
#include "run/answer.hpp"

namespace memreplay {

/// The winner and its price against the baseline (`recorded`, else the first given), then what is
/// dearest. `runs` in the order given, places set. Empty for fewer than two runs, those that were
/// interrupted not counted.
std::vector<std::string> comparison_sentences(const std::vector<Run>& runs);

/// Why a run was refused memory, and what helps. Empty where it was not.
std::string oom_warning(const Run& run);
/// Its middle: "requested 759 MiB, 806 MiB free, largest hole 690 MiB".
std::string oom_figures(const OomPlace& oom);
/// The end of that, the verdict: "Shortage: a --capacity above 9216 MiB helps."
std::string oom_advice(const Run& run);

/// "4900 MiB to 5600 MiB"; one size where the ends look the same.
std::string range_text(const BytesInterval& interval);
/// "≈ 5210 MiB (4900 MiB to 5600 MiB)"; without a range where its ends look the same.
std::string estimated_text(Bytes bytes, const BytesInterval& interval);

/// The reserved peak: "at least 5210 MiB", "≈ 5210 MiB (4900 MiB to 5600 MiB)".
std::string reserved_text(const Run& run);

/// Why these figures are an estimate. Empty where they are exact.
std::string inexact_sentence(const Run& run);
/// Why the figures of several runs are estimates: `names` is the subject, `run` one of them.
std::string inexact_sentence(const Run& run, const std::string& names);

/// A sentence that requests were served which the recorded program was refused. Empty where none
/// was.
std::string served_sentence(const Run& run);
/// Likewise for several runs.
std::string served_sentence(const Run& run, const std::string& names);

/// "with 3 blocks (2 GiB) moved out of it and a modelled stall of 1.5 s". Empty where none was.
std::string transfer_cost(const Run& run);

/// What must stand beside the strategy's name in a comparison. Empty where nothing must.
std::string mark(const Run& run);

/// How far the model reproduces the recording itself. Empty where it was not tried.
std::string model_sentence(const TraceRuns& report);

/// Which device was taken and why, where nobody said how large it is. Empty where somebody did, or
/// it is endless.
std::string capacity_sentence(const DeviceSummary& device);

/// What of each device, or of the device, is set aside for whom, and how sure that is. Empty where
/// nothing is.
std::vector<std::string> set_aside_sentences(const SetAside& aside, std::string_view of);

/// "3128 events, 1 stream, starts empty"
std::string coverage_phrase(const TraceSummary& trace);

/// "1 stream", "2 streams"
std::string counted(std::uint64_t count, const std::string& noun);

/// "checkpoint:function=attn frees 66 blocks (300 MiB) early and asks for 250 MiB again, in 200
/// requests"
std::string edit_phrase(const EditFacts& edit);

}  // namespace memreplay
