#!/usr/bin/env python3
"""record.py PROGRAM SEED OUT: runs a program and writes its whole history to OUT.pickle and where its steps end to OUT.json. Settings are
those of the environment. To be run by a Python whose PyTorch has a CUDA device, real or a stand-in."""
import gc
import json
import pathlib
import sys

import torch

import programs


def main():
    name, seed, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    gc.disable()
    torch.backends.cudnn.enabled = False
    torch.cuda.init()
    torch.cuda.memory._record_memory_history(max_entries=10**7, context=None)
    steps = []
    failure = None
    try:
        programs.run(name, seed, lambda: steps.append(torch.cuda.memory_stats()["allocation.all.allocated"]))
    except torch.cuda.OutOfMemoryError as error:
        failure = str(error)[:80]
    stats = torch.cuda.memory_stats()
    torch.cuda.memory._dump_snapshot(out + ".pickle")
    pathlib.Path(out + ".json").write_text(json.dumps({
        "steps": steps, "ended_by_oom": failure, "torch_version": torch.__version__, "retries": stats["num_alloc_retries"]}))


main()
