#pragma once

namespace memreplay::torch {

/// What the path of a request or of a free reckons with. The path is written once; a loop over many
/// events takes it with the fewest rules that the settings, the release and the state allow.
struct AllRules {
  static constexpr bool kExpandable = true;    ///< blocks of reservations
  static constexpr bool kLimits = true;        ///< max_split_size
  static constexpr bool kCollects = true;      ///< garbage collection asks for the age of blocks
  static constexpr bool kRounds = true;        ///< roundup_power2_divisions
  static constexpr bool kPrivatePools = true;  ///< requests for other pools than the default one
  static constexpr bool kForks = true;         ///< PyTorch's relatives pad and align requests
  static constexpr bool kAnyRanks = true;  ///< releases before 2.13 order equal blocks otherwise
};

/// The default settings of a release from 2.13 on.
struct PlainRules {
  static constexpr bool kExpandable = false;
  static constexpr bool kLimits = false;
  static constexpr bool kCollects = false;
  static constexpr bool kRounds = false;
  static constexpr bool kPrivatePools = false;
  static constexpr bool kForks = false;
  static constexpr bool kAnyRanks = false;
};

/// With limits of sizes, garbage collection and rounding.
struct LimitRules : PlainRules {
  static constexpr bool kLimits = true;
  static constexpr bool kCollects = true;
  static constexpr bool kRounds = true;
};

/// With expandable segments.
struct ExpandableRules : PlainRules {
  static constexpr bool kExpandable = true;
};

}  // namespace memreplay::torch
