#!/bin/sh
# memray 1.20.0: two counts of allocations in one file. `metadata.total_allocations`, which its HTML reports show as the
# total number of allocations, counts the deallocations too; `memray stats` does not.
# Seen: of a program that maps memory 1,000 times and unmaps it each time, the metadata say 2,000, as many as the file
# has records of either kind, and `memray stats` 1,000.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet memray==1.20.0
cat > "$work/record.py" <<'PYTHON'
import mmap
import sys

import memray

with memray.Tracker(sys.argv[1]):
    for _ in range(1000):
        mmap.mmap(-1, 4096).close()
PYTHON
"$work/venv/bin/python" "$work/record.py" "$work/run.bin"
"$work/venv/bin/memray" stats --json --output "$work/stats.json" "$work/run.bin" > "$work/log"
"$work/venv/bin/python" - "$work/run.bin" "$work/stats.json" <<'PYTHON'
import importlib.metadata
import json
import sys

import memray

FREES = {memray.AllocatorType.FREE, memray.AllocatorType.MUNMAP}
reader = memray.FileReader(sys.argv[1])
records = [record.allocator in FREES for record in reader.get_allocation_records()]
total, frees = reader.metadata.total_allocations, sum(records)
stats = json.load(open(sys.argv[2]))["total_num_allocations"]
print(f"memray {importlib.metadata.version('memray')}: total_allocations {total:,}, memray stats {stats:,}, records {len(records):,}, of which {frees:,} free")
sys.exit(0 if frees >= 1000 and total == len(records) and stats == total - frees else 1)
PYTHON
