"""The program itself, which came with this package."""
import os
import shutil
import sysconfig
from importlib import metadata


def path():
    """Where the program is. Raises FileNotFoundError."""
    for place in _places():
        if place and os.access(place, os.X_OK) and os.path.isfile(place):
            return place
    raise FileNotFoundError("the program memreplay is neither among the scripts of this Python nor on PATH")


def _places():
    try:
        for file in metadata.files("memreplay") or []:
            if file.name == "memreplay" and file.parent.name in ("bin", "Scripts"):
                yield os.fspath(file.locate())
    except metadata.PackageNotFoundError:
        pass
    yield os.path.join(sysconfig.get_path("scripts"), "memreplay")
    yield shutil.which("memreplay")
