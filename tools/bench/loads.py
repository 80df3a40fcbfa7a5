"""Requests to measure with, the same for a seed: random ones, and those of a recording in a loop.

Run as a program it writes one load to files, so that what it holds is not held by who measures.
"""
import argparse
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from values import values_in  # noqa: E402


def random_requests(events, live, low, high, seed):
    """(block, size), or (block, None) for a free. Sizes even in the exponent, from 2^low to 2^high; up to `live`
    blocks, from then on one is allocated or freed at random."""
    rng = random.Random(seed)
    blocks = []
    for event in range(events):
        if len(blocks) >= live or (blocks and rng.random() < 0.45):
            at = rng.randrange(len(blocks))
            blocks[at], blocks[-1] = blocks[-1], blocks[at]
            yield blocks.pop(), None
        else:
            blocks.append(event)
            yield event, int(2 ** rng.uniform(low, high))


def recorded_requests(path):
    """Requests of the device with most events; what is left at the end is freed."""
    entries = max(values_in(path)["device_traces"], key=len)
    live, block = {}, 0
    for entry in entries:
        if entry["action"] == "alloc":
            live[entry["addr"]] = block
            yield block, entry["size"]
            block += 1
        elif entry["action"] == "free_completed" and entry["addr"] in live:
            yield live.pop(entry["addr"]), None
    for block in live.values():
        yield block, None


def looped(path, events):
    """A recording again and again, whole times, until there are as many events."""
    once = list(recorded_requests(path))
    blocks = sum(size is not None for _, size in once)
    for turn in range(-(-events // len(once))):
        for block, size in once:
            yield block + turn * blocks, size


def write(requests, csv, plain, streams=1):
    """For memreplay, and for the originals' own benchmarks ("a ID SIZE STREAM", "f ID"). Each block is of a stream at
    random."""
    rng = random.Random(2)
    with open(csv, "w", encoding="ascii") as ours, open(plain, "w", encoding="ascii") as original:
        ours.write("op,id,size,stream\n")
        for block, size in requests:
            stream = 0 if size is None or streams == 1 else rng.randrange(streams)
            ours.write(f"f,{block},,\n" if size is None else f"a,{block},{size},{stream}\n")
            original.write(f"f {block}\n" if size is None else f"a {block} {size} {stream}\n")


def main():
    parser = argparse.ArgumentParser(description="Writes one load as CSV and as plain text.")
    parser.add_argument("csv")
    parser.add_argument("plain")
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--recording")
    parser.add_argument("--random", type=int, nargs=3, metavar=("LIVE", "LOW", "HIGH"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--streams", type=int, default=1)
    options = parser.parse_args()
    if options.recording:
        requests = looped(options.recording, options.events)
    else:
        requests = random_requests(options.events, *options.random, options.seed)
    write(requests, options.csv, options.plain, options.streams)


if __name__ == "__main__":
    main()
