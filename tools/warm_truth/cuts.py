#!/usr/bin/env python3
"""cuts.py MEMREPLAY RECORDING... [--cuts N] [--seed S]: what is said of recordings of which a part is missing, against the whole ones. Each
RECORDING is a complete one of PyTorch, which starts cold. Half of the cuts begin late (the first entries are missing) and are replayed as
recorded and under other settings; the others end at the OOM of a smaller device, and `fit` says what the program needs. Exit 1 where a
statement that is called exact, or a lower bound, is false."""
import argparse
import bisect
import collections
import gzip
import json
import pathlib
import pickle
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from values import values_of  # noqa: E402

SETTINGS = ("", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4")
GRANULE = 2 << 20


def asked(program, *arguments):
    done = subprocess.run([program, *map(str, arguments), "--json", "--quiet"], capture_output=True, text=True)
    if not done.stdout:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def loaded(path):
    data = path.read_bytes()
    return values_of(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def busiest(snapshot):
    return max(range(len(snapshot["device_traces"])), key=lambda gpu: len(snapshot["device_traces"][gpu]))


def without_beginning(snapshot, first, out):
    gpu = busiest(snapshot)
    snapshot["device_traces"][gpu] = snapshot["device_traces"][gpu][first:]
    out.write_bytes(pickle.dumps(snapshot))


def segments_after(entries, gpu):
    """The segments that are there after these entries, as a snapshot has them."""
    segments, live = {}, {}
    for entry in entries:
        if entry["action"] == "segment_alloc":
            segments[entry["addr"]] = entry
        elif entry["action"] == "segment_free":
            del segments[entry["addr"]]
        elif entry["action"] == "alloc":
            live[entry["addr"]] = entry
        elif entry["action"] == "free_completed":
            live.pop(entry["addr"], None)
    starts = sorted(segments)
    blocks = collections.defaultdict(list)
    for address in sorted(live):
        blocks[starts[bisect.bisect_right(starts, address) - 1]].append(live[address])
    return [segment_of(segments[start], blocks[start], gpu) for start in starts]


def segment_of(segment, live, gpu):
    blocks, at, end = [], segment["addr"], segment["addr"] + segment["size"]

    def hole(to):
        if to > at:
            blocks.append({"address": at, "size": to - at, "requested_size": 0, "state": "inactive", "frames": []})

    for entry in live:
        hole(entry["addr"])
        size = max(-(-entry["size"] // 512) * 512, 512)
        blocks.append({"address": entry["addr"], "size": size, "requested_size": entry["size"], "state": "active_allocated",
                       "frames": entry.get("frames", [])})
        at = entry["addr"] + size
    hole(end)
    kind = "small" if segment["size"] == GRANULE else "large"
    return {"device": gpu, "address": segment["addr"], "total_size": segment["size"], "stream": segment["stream"], "segment_type": kind,
            "allocated_size": 0, "active_size": 0, "requested_size": 0, "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
            "blocks": blocks}


def ended_at_oom(program, path, snapshot, capacity, out):
    """Whether a device of that size refuses the program something; the recording up to there."""
    oom = asked(program, "replay", path, "-s", "recorded", "--capacity", capacity, "--on-oom", "stop")["runs"][0]["first_oom"]
    if not oom:
        return False
    gpu = busiest(snapshot)
    entries = snapshot["device_traces"][gpu]
    refused = dict(entries[oom["event"]], action="oom", addr=0)
    kept = entries[:oom["event"]]
    segments = segments_after(kept, gpu)
    refused["device_free"] = max(0, capacity - sum(segment["total_size"] for segment in segments))
    snapshot["device_traces"][gpu] = kept + [refused]
    snapshot["segments"] = [segment for segment in snapshot["segments"] if segment["device"] != gpu] + segments
    out.write_bytes(pickle.dumps(snapshot))
    return True


class Row:
    def __init__(self):
        self.right, self.errors, self.widths = [], [], []

    def add(self, right, said, truth, interval):
        self.right.append(right)
        self.errors.append(abs(said / truth - 1) * 100)
        self.widths.append((interval[1] / interval[0] - 1) * 100)

    def __str__(self):
        return (f"{len(self.right):5} {100 * sum(self.right) / len(self.right):7.1f} {statistics.median(self.errors):7.1f} "
                f"{max(self.errors):6.0f} {statistics.median(self.widths):6.0f}")


def begun_late(program, path, whole, cut, dice):
    snapshot = loaded(path)
    entries = len(snapshot["device_traces"][busiest(snapshot)])
    first = dice.randrange(entries // 20, entries * 9 // 10)
    without_beginning(snapshot, first, cut)
    settings = dice.choice(SETTINGS)
    options = ["--alloc-conf", settings] if settings else []
    truth = asked(program, "replay", path, "--from", first, *options)["runs"][0]
    run = asked(program, "replay", cut, *options)["runs"][0]
    said = run["peak_reserved_bytes"]
    low, high = (run["interval"] or {}).get("peak_reserved_bytes") or (said, said)
    name = "exact" if run["exact"] else "estimated"
    return f"begins late, {'other settings' if settings else 'as recorded'}, {name}", said, truth["peak_reserved_bytes"], (low, high), False


def ended_early(program, path, whole, cut, dice):
    capacity = int(whole * dice.uniform(0.3, 0.995)) // GRANULE * GRANULE
    if not ended_at_oom(program, path, loaded(path), capacity, cut):
        return None
    run = asked(program, "fit", cut)["runs"][0]
    said = run["smallest_capacity_bytes"]
    low, high = (run["interval"] or {}).get("smallest_capacity_bytes") or (said, said)
    lower = run["bound"] == "lower"
    name = "a lower bound" if lower else "exact" if (low, high) == (said, said) else "estimated"
    return f"ends at an OOM, {name}", said, whole, (low, high), lower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("recordings", nargs="+", type=pathlib.Path)
    parser.add_argument("--cuts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice, rows, false = random.Random(options.seed), collections.defaultdict(Row), []
    with tempfile.TemporaryDirectory() as folder:
        cut = pathlib.Path(folder) / "cut.pickle"
        done = 0
        while done < options.cuts:
            path = dice.choice(options.recordings)
            whole = asked(options.program, "fit", path)["runs"][0]["smallest_capacity_bytes"]
            result = (begun_late, ended_early)[done % 2](options.program, path, whole, cut, dice)
            if result is None:
                continue
            done += 1
            name, said, truth, (low, high), lower = result
            right = said <= truth if lower else low <= truth <= high
            rows[name].add(right, said, truth, (low, high))
            if not right:
                false.append((name, f"{path.name}: {said} ({low} to {high}) said, {truth} is true"))
    print(f"{'statement':46}  cuts  true %  median  worst  width")
    for name in sorted(rows):
        print(f"{name:46} {rows[name]}")
    for name, what in false:
        print(f"{name}: {what}")
    return any("estimated" not in name for name, _ in false)


if __name__ == "__main__":
    sys.exit(main())
