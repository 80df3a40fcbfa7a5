#!/bin/sh
# JAX 0.10.2, CPU: a device memory profile counts a NumPy array's memory once for each jax.Array that aliases it.
# Seen: two arrays that device_put made of one aligned NumPy array of 8,388,608 bytes have its address, and the profile
# says 16,777,216 bytes of buffers, of which JAX allocated none.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu "$work/venv/bin/python" - <<'PYTHON'
import gzip
import sys

import jax
import numpy

SIZE = 8 << 20


def number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = number(data, at)
        value, at = number(data, at)
        if key & 7 == 2:  # that many bytes follow
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def profiled():
    """Bytes of all buffers in a profile."""
    total = 0
    for sample in (value for field, value in fields(gzip.decompress(jax.profiler.device_memory_profile())) if field == 2):
        values = next(value for field, value in fields(sample) if field == 2)
        _, at = number(values, 0)
        total += number(values, at)[0]
    return total


room = numpy.empty(SIZE + 64, numpy.uint8)
given = room[-room.ctypes.data % 64:][:SIZE]
given[:] = 1
arrays = [jax.device_put(given, may_alias=True) for _ in range(2)]
places = {array.unsafe_buffer_pointer() for array in arrays}
seen = profiled()
print(f"jax {jax.__version__}: NumPy's place {'is' if places == {given.ctypes.data} else 'is not'} that of both; the profile has {seen:,} bytes")
sys.exit(0 if places == {given.ctypes.data} and seen == 2 * SIZE else 1)
PYTHON
