#!/usr/bin/env python3
"""record.py PROGRAM SEED OUT: runs a program and writes its whole history to OUT.pickle and where its steps end to OUT.json. Settings are
those of the environment. Without arguments: the names in unseen.py. To be run by a Python whose PyTorch has a CUDA device, real or a stand-in."""
import gc
import json
import pathlib
import pickle
import sys

import torch

import programs
import unseen


def is_fixed(name):
    return unseen.PROGRAMS.get(name) in unseen.FIXED


def main():
    if len(sys.argv) < 2:
        for name in unseen.PROGRAMS:
            print(name, "fixed" if is_fixed(name) else "varying")
        return
    name, seed, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    gc.disable()
    torch.backends.cudnn.enabled = False
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.cuda.init()
    torch.cuda.memory._record_memory_history(max_entries=10**7, context=None)
    programs.PROGRAMS.update(unseen.PROGRAMS)
    steps = []
    failure = None
    try:
        programs.run(name, seed, lambda: steps.append(torch.cuda.memory_stats()["allocation.all.allocated"]))
    except torch.cuda.OutOfMemoryError as error:
        failure = str(error)[:80]
    stats = torch.cuda.memory_stats()
    snapshot = torch.cuda.memory._snapshot()
    pathlib.Path(out + ".pickle").write_bytes(pickle.dumps(snapshot))
    pathlib.Path(out + ".json").write_text(json.dumps({
        "program": name, "seed": seed, "fixed": is_fixed(name), "steps": steps, "entries": len(snapshot["device_traces"][0]),
        "ended_by_oom": failure, "torch_version": torch.__version__, "retries": stats["num_alloc_retries"],
        "peak_reserved": stats["reserved_bytes.all.peak"]}))


main()
