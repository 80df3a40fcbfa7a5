"""A large snapshot of random requests, the same for a seed, or half of one. Run as a program it writes one."""
import argparse
import pathlib
import pickle
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from values import values_in  # noqa: E402

LIVE = 4_000


def stacks(rng):
    """Shared as in real snapshots."""
    frames = [{"filename": f"/app/model/part_{i % 8}.py", "line": i + 1, "name": f"function_{i}"} for i in range(400)]
    return [[rng.choice(frames) for _ in range(rng.randint(20, 90))] for _ in range(600)]


def entry(action, block, time_us):
    address, size, stack = block
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us,
            "compile_context": "N/A", "user_metadata": "", "frames": stack}


def segment(block):
    """Every block at an address and in a segment of its own."""
    address, size, stack = block
    return {"device": 0, "address": address, "total_size": size, "allocated_size": size, "active_size": size,
            "requested_size": size, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
            "is_expandable": False, "frames": stack,
            "blocks": [{"address": address, "size": size, "requested_size": size, "state": "active_allocated",
                        "frames": stack}]}


def snapshot(entries, seed):
    rng = random.Random(seed)
    called = stacks(rng)
    live, trace, address, time_us = [], [], 0x7F0000000000, 0
    while len(trace) < entries:
        time_us += rng.randint(1, 40)
        if live and (len(live) > LIVE or rng.random() < 0.48):
            block = live.pop(rng.randrange(len(live)))
            trace += [entry("free_requested", block, time_us), entry("free_completed", block, time_us)]
        else:
            size = (int(2 ** rng.uniform(6, 24)) + 511) // 512 * 512
            live.append((address, size, list(rng.choice(called))))
            trace.append(entry("alloc", live[-1], time_us))
            address += size
    return {"segments": [segment(block) for block in live], "device_traces": [trace], "external_annotations": [],
            "allocator_settings": {}}


def late(whole):
    """The second half, as of a history that began there."""
    halved = values_in(whole)
    entries = halved["device_traces"][0]
    halved["device_traces"][0] = entries[len(entries) // 2:]
    return halved


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--entries", type=int, default=280_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--late", metavar="SNAPSHOT", help="its second half instead")
    options = parser.parse_args()
    made = late(options.late) if options.late else snapshot(options.entries, options.seed)
    with open(options.target, "wb") as file:
        pickle.dump(made, file, protocol=4)


if __name__ == "__main__":
    main()
