"""Runs a program again and again from one import of torch, which takes seconds; for N from 1 on twice with
its N-th request refused, until nothing is. Ranks name the recordings."""
import os
import runpy
import sys

import torch._dynamo  # noqa: F401  which the first optimizer imports


def run_in_a_child(number, time):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.environ["RANK"] = str(2 * number + time)
        os.environ["MEMREPLAY_VIRTUAL_GPU"] += f";oom-at={number}"
        print(number, end=" ")
        sys.argv = sys.argv[1:]
        runpy.run_path(sys.argv[0], run_name="__main__")
        sys.exit(3 if refused_nothing() else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refused_nothing():
    return not sys.modules["torch"].cuda.memory_stats()["num_ooms"]


number = 1
while run_in_a_child(number, 0) == 0 and run_in_a_child(number, 1) == 0:
    number += 1
