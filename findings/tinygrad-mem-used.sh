#!/bin/sh
# tinygrad 0.14.0, CPU: `GlobalCounters.mem_used` counts what tensors hold, not what is taken: freed buffers stay with the
# allocator, and serve requests of the same number of bytes alone.
# Seen: a tensor of 4,194,304 bytes is freed, and mem_used is 0 while its buffer is kept; a tensor of 4 bytes less gets
# memory of its own: 4,194,300 in mem_used, 8,388,604 taken. One of the same size would have had the kept buffer.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet tinygrad==0.14.0
DEV=CPU "$work/venv/bin/python" - <<'PYTHON'
import gc
import importlib.metadata
import sys

from tinygrad import Device, Tensor
from tinygrad.helpers import GlobalCounters

allocator = Device["CPU"].allocator


def kept():
    return sum(size * len(buffers) for (size, _), buffers in allocator.cache.items())


def stand():
    gc.collect()
    return GlobalCounters.mem_used, kept()


first = Tensor.ones(1 << 20).contiguous().realize()
seen = [stand()]
del first
seen.append(stand())
second = Tensor.ones((1 << 20) - 1).contiguous().realize()
seen.append(stand())
print(f"tinygrad {importlib.metadata.version('tinygrad')}, (mem_used, kept):", *seen)
sys.exit(0 if seen == [(4194304, 0), (0, 4194304), (4194300, 4194304)] else 1)
PYTHON
