"""import memreplay.auto: records this program's GPU memory, and says at its end, or when memory runs out, why.

The same as `python -m memreplay run`, for programs whose command cannot be changed.
"""
import atexit

from ._recorder import Recorder

_recorder = Recorder()
_recorder.watch_for_torch()
atexit.register(_recorder.finish)
