"""python -m memreplay run: a program of one's own, recorded."""
import argparse
import os
import runpy
import sys

from ._recording import DEFAULT_OUTPUT, recorder_for


def arguments():
    """What stands before the program; the rest is its own."""
    parser = argparse.ArgumentParser(
        prog="python -m memreplay run",
        description="Runs a Python program with the memory history switched on. At an OOM, or at the end, the "
        "snapshot is written, and standard error says what it tells.")
    parser.add_argument("-o", "--output", default=DEFAULT_OUTPUT, metavar="F",
                        help="where the snapshot goes; {rank} is RANK or SLURM_PROCID. Default: %(default)s")
    parser.add_argument("--max-entries", type=int, default=1_000_000, metavar="N",
                        help="events that the history holds. Default: %(default)s")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module, as for python -m")
    parser.add_argument("program", help="train.py")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def main(given):
    """Runs it. Its exception or exit code is passed on."""
    asked = arguments().parse_args(given)
    if not asked.module and not os.path.exists(asked.program):
        print(f"memreplay: {asked.program}: no such file; expected a program of Python (-m names a module)",
              file=sys.stderr)
        return 2
    recorder = recorder_for(asked.output, asked.max_entries)
    recorder.watch_for_torch()
    sys.argv = [asked.program, *asked.arguments]
    try:
        if asked.module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(asked.program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(asked.program)))
            runpy.run_path(asked.program, run_name="__main__")
    finally:
        recorder.finish()
    return 0
