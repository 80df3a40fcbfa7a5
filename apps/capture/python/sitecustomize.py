"""First on PYTHONPATH of a recorded program, for a Python into which nothing is preloaded."""
import memreplay_hook  # noqa: F401
