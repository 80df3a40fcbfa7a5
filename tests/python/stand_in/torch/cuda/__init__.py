import os

from .. import _C
from . import memory


class OutOfMemoryError(RuntimeError):
    pass


def is_available():
    return "STAND_IN_SNAPSHOT" in os.environ


def _lazy_call(function):
    """What is to be done once CUDA is initialised: at once, where there is a device."""
    if is_available():
        function()


def empty_cache():
    pass


def allocate_too_much():
    """What a request that is not served comes to."""
    for observer in _C.observers:
        observer(0, 1 << 40, 1 << 40, 1 << 20)
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 1024.00 GiB")
