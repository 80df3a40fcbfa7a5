"""import memreplay.auto: records this program's GPU memory, and says at its end, or when memory runs out, why.

The same as `python -m memreplay run`, for programs whose command cannot be changed.
"""
from ._recording import recorder_for

recorder_for().watch_for_torch()
