"""What stands for torch where tests need one: a device that runs out of memory when it is told to."""
from . import _C, cuda, optim

__version__ = "2.15.0"
