"""python -m memreplay: the program, and `run SCRIPT`, which records a program of one's own."""
import os
import sys


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:
        from ._run import main as run

        return run(arguments[1:])
    from ._program import path

    program = path()
    sys.stdout.flush()
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    sys.exit(main())
