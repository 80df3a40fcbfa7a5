#pragma once

namespace memreplay {

/// touch.cu as the driver takes it; made when the program is built.
extern const char kTouchPtx[];

}  // namespace memreplay
