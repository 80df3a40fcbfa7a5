"""Stands where other wheels have the compiled module: this one holds the program, for any Python."""
from importlib import metadata

from ._errors import Error

__version__ = metadata.version("memreplay")


def _refuse(*_):
    raise Error("this wheel holds the program alone, not the module: there is none yet for this Python; "
                "use the program (memreplay explain TRACE --json), or a CPython that has the module")


parse_size = run = source_of_bytes = source_of_snapshot = TypedTable = _refuse
