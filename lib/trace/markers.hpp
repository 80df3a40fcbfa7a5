#pragma once

#include <string_view>

namespace memreplay {

/// Texts of markers that `record` writes into a history; a marker with another text ends a step.
inline constexpr std::string_view kSleepMarker = "sleep";
inline constexpr std::string_view kWakeMarker = "wake";
/// What was passed to the allocator follows.
inline constexpr std::string_view kSettingsMarker = "PYTORCH_CUDA_ALLOC_CONF=";

}  // namespace memreplay
