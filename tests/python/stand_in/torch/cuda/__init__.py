import os

from .. import _C
from . import memory


_initialized = False
_waiting = []


class OutOfMemoryError(RuntimeError):
    pass


def is_available():
    return "STAND_IN_SNAPSHOT" in os.environ


def _lazy_call(call):
    if _initialized:
        call()
    else:
        _waiting.append(call)


def init():
    """The first use of the device."""
    global _initialized
    _initialized = True
    while _waiting:
        _waiting.pop(0)()


def empty_cache():
    pass


def allocate_too_much():
    """What a request that is not served comes to."""
    init()
    for observer in _C.observers:
        observer(0, 1 << 40, 1 << 40, 1 << 20)
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 1024.00 GiB")
