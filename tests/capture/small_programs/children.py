"""Processes of every kind use the card, each with another part of this one's environment."""
import multiprocessing
import os
import subprocess
import sys

import torch

USE = "import torch; torch.zeros(1 << 20, device='cuda')"


def use():
    torch.zeros(1 << 20, device="cuda")


def status(command, environment=None):
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    use()
    program = [sys.executable, "-c", USE]
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    few = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
    ends = {"inherits": status(program), "its own path": status(program, own), "no path": status(program, without),
            "few variables": status(program, few), "none": status(["env", "-i", *program])}
    for option in ("-I", "-E"):
        ends[option] = status([sys.executable, option, "-c", USE])
    for method in ("spawn", "forkserver"):
        child = multiprocessing.get_context(method).Process(target=use)
        child.start()
        child.join()
        ends[method] = child.exitcode
    print(", ".join(f"{name}: {end}" for name, end in ends.items()))
