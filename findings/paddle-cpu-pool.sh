#!/bin/sh
# PaddlePaddle 3.3.1, CPU: FLAGS_initial_cpu_memory_in_mb and FLAGS_allocator_strategy=naive_best_fit make no pool; each
# request goes to the system by itself, whatever the flags are.
# Seen: with a first chunk of 500 MB asked for, a tensor of 12 bytes has 12 bytes reserved, and 0 when it is freed; the
# same under auto_growth, so that what is reserved on a CPU is what is allocated, to the byte.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet paddlepaddle==3.3.1
cat > "$work/reserved.py" <<'PYTHON'
import gc
import sys

import paddle
from paddle.base import core

paddle.set_device("cpu")


def stand():
    gc.collect()
    return tuple(core.host_memory_stat_current_value(what, 0) for what in ("Allocated", "Reserved"))


small = paddle.zeros([3])
seen = [stand()]
large = paddle.zeros([1024, 1024])
seen.append(stand())
del small, large
seen.append(stand())
flags = paddle.get_flags(["FLAGS_allocator_strategy", "FLAGS_initial_cpu_memory_in_mb"])
print(f"paddlepaddle {paddle.__version__}, {flags}, (allocated, reserved):", *seen)
sys.exit(0 if seen == [(12, 12), (4194316, 4194316), (0, 0)] else 1)
PYTHON
for strategy in naive_best_fit auto_growth; do
  FLAGS_allocator_strategy=$strategy FLAGS_initial_cpu_memory_in_mb=500 "$work/venv/bin/python" "$work/reserved.py" 2> "$work/log"
done
