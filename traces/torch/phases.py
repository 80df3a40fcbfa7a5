#!/usr/bin/env python3
"""Records phases.pickle, and counts what its program comes to where it passes settings in `load`.

Run it with PyTorch on a GPU or over a stand-in of one, its first settings in PYTORCH_CUDA_ALLOC_CONF:
    phases.py phases.pickle
    phases.py counters.json --in-load max_split_size_mb:20      # one entry of phases.counters.json
"""
import argparse
import json
import os
import random

import torch

KIB, MIB = 1 << 10, 1 << 20


def pass_settings(conf):
    newer = getattr(torch._C, "_accelerator_setAllocatorSettings", None)
    (newer or torch.cuda.memory._set_allocator_settings)(conf)


class Program:
    def __init__(self):
        self.random = random.Random(5)
        self.live = []

    def work(self, count, least, below):
        """That many steps, each of which frees some block or takes one of a size in [least, below)."""
        for _ in range(count):
            if self.live and self.random.random() < 0.45:
                self.live.pop(self.random.randrange(len(self.live)))
            else:
                size = self.random.randrange(least, below)
                self.live.append(torch.empty(size, dtype=torch.uint8, device="cuda"))

    def load(self, count, first, inside):
        with torch.profiler.record_function("load"):
            if inside is not None:
                pass_settings(inside)
            self.work(count, 512 * KIB, 120 * MIB)
            if inside is not None:
                pass_settings(first)

    def run(self, first, inside):
        self.work(60, 64 * KIB, 40 * MIB)
        self.load(80, first, inside)
        self.work(60, 64 * KIB, 40 * MIB)
        self.load(40, first, inside)
        with torch.profiler.record_function("step"):
            self.work(80, 64 * KIB, 30 * MIB)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--in-load", metavar="CONF", help="passed at the beginning of each phase `load`")
    asked = parser.parse_args()
    first = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
    torch.cuda.init()
    torch.cuda.current_stream()
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python", context=None)
    Program().run(first, asked.in_load)
    if asked.in_load is None:
        torch.cuda.memory._dump_snapshot(asked.out)
        return
    counted = {"torch_version": torch.__version__.split("+")[0], "config": first, "in_load": asked.in_load,
               "memory_stats": torch.cuda.memory_stats()}
    with open(asked.out, "w", encoding="utf-8") as file:
        json.dump(counted, file, separators=(",", ":"))


if __name__ == "__main__":
    main()
