"""Pins memory, and does nothing else with CUDA unless it is told to."""
import sys

import torch

kept = torch.empty(135790592, dtype=torch.uint8).pin_memory()
freed = torch.empty(1000, dtype=torch.uint8, pin_memory=True)
del freed
if "used" in sys.argv:
    kept.to("cuda", non_blocking=True)
if "own" in sys.argv:
    torch.cuda.memory._record_memory_history(record_pinned_host_memory=True, max_entries=1)
    print("own dump:", len(torch.cuda.memory._snapshot()["host_traces"]))
