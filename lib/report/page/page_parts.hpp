#pragma once

namespace memreplay {

/// The page with {{names}} where something is filled in, and what is filled in of it always.
extern const char kPageHtml[];
extern const char kPageStyle[];
extern const char kPageScript[];
extern const char kChartScript[];  ///< dygraphs
extern const char kChartStyle[];

}  // namespace memreplay
