#!/bin/sh
# NumPy 2.4.6 and memray 1.20.0: arrays of less than 1,024 bytes come from a cache of NumPy's own, so that who watches
# malloc sees next to none of them. tracemalloc, which NumPy tells itself, sees every one.
# Seen: of 1,000 arrays of 512 bytes, each freed before the next, memray has two or so; of 1,000 of 2,048 bytes all.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 memray==1.20.0
"$work/venv/bin/python" - "$work/run.bin" <<'PYTHON'
import sys

import memray
import numpy

with memray.Tracker(sys.argv[1]):
    for size in (512, 2048):
        for _ in range(1000):
            array = numpy.empty(size, numpy.uint8)
            del array

seen = [record.size for record in memray.FileReader(sys.argv[1]).get_allocation_records()]
small, large = seen.count(512), seen.count(2048)
print(f"numpy {numpy.__version__}, memray: {small} of 1000 arrays of 512 bytes, {large} of 1000 arrays of 2048 bytes")
sys.exit(0 if small <= 10 and large >= 1000 else 1)
PYTHON
