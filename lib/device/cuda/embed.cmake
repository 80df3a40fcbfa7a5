# Writes the text of the file FROM as the definition TO of kTouchPtx.
file(READ ${FROM} text)
file(WRITE ${TO} "#include \"device/cuda/touch_ptx.hpp\"\n
namespace memreplay {\n
const char kTouchPtx[] = R\"embedded(${text})embedded\";\n
}  // namespace memreplay\n")
