"""python -m memreplay: the program; `run` is its `record`, of a script or module that this interpreter runs, `vllm` says
what vLLM makes of a card, and `convert-memray` makes a recording of memray's capture."""
import os
import subprocess
import sys

from . import _memray, _vllm
from ._program import path


def main():
    program, arguments = path(), sys.argv[1:]
    if arguments[:1] == ["vllm"]:
        sys.exit(_vllm.main(arguments[1:]))
    if arguments[:1] == ["convert-memray"]:
        sys.exit(_memray.main(arguments[1:]))
    if arguments[:1] == ["run"]:
        python = [sys.executable, *subprocess._args_from_interpreter_flags()]
        arguments = ["record", *(f"--python={word}" for word in python), *arguments[1:]]
    sys.stdout.flush()
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main()
