#!/bin/sh
# TensorFlow 2.21.0, CPU with oneDNN: the default allocator `mklcpu` is a BFC for requests of 262,144 bytes and more;
# smaller ones pass it by, and no memory event of a profile tells them.
# Seen: of tensors of 1,000, 100,000, 262,080, 262,144, 300,000 and 1,000,000 bytes the profile has the last three. With
# TF_CPU_ALLOCATOR_USE_BFC=1 the allocator is `bfc_cpu_allocator_for_gpu`, and all six are there. (oneDNN is switched on
# here: on processors without AVX-512 it is off, and a profile of the default allocator has no memory events at all.)
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet tensorflow-cpu==2.21.0
cat > "$work/sizes.py" <<'PYTHON'
import glob
import tempfile

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

SIZES = [1000, 100_000, 262_080, 262_144, 300_000, 1_000_000]


def profiled(make):
    """(allocator, bytes asked for) of every allocation while `make` runs."""
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        kept = make()
        tf.profiler.experimental.stop()
        space = xplane_pb2.XSpace.FromString(open(glob.glob(folder + "/**/*.xplane.pb", recursive=True)[0], "rb").read())
    del kept
    found = []
    for plane in space.planes:
        names = plane.stat_metadata
        for event in (event for line in plane.lines for event in line.events):
            if plane.event_metadata[event.metadata_id].name == "MemoryAllocation":
                stats = {names[stat.metadata_id].name: stat for stat in event.stats}
                found.append((names[stats["allocator_name"].ref_value].name, stats["requested_bytes"].int64_value))
    return found


profiled(lambda: None)  # the first one warms up
found = profiled(lambda: [tf.fill([size // 4], 1.0) for size in SIZES])
print(*sorted({name for name, _ in found}), *(size for _, size in found if size in SIZES))
PYTHON
default=$(TF_ENABLE_ONEDNN_OPTS=1 TF_CPP_MIN_LOG_LEVEL=3 "$work/venv/bin/python" "$work/sizes.py" 2>"$work/log" || cat "$work/log")
bfc=$(TF_CPU_ALLOCATOR_USE_BFC=1 TF_CPP_MIN_LOG_LEVEL=3 "$work/venv/bin/python" "$work/sizes.py" 2>"$work/log" || cat "$work/log")
echo "default:                    $default"
echo "TF_CPU_ALLOCATOR_USE_BFC=1: $bfc"
[ "$default" = "mklcpu 262144 300000 1000000" ]
[ "$bfc" = "bfc_cpu_allocator_for_gpu 1000 100000 262080 262144 300000 1000000" ]
