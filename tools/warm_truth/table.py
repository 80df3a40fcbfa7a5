#!/usr/bin/env python3
"""table.py MEMREPLAY FOLDER...: how far the estimates are off for the recordings that cut.py made, by what the target settings change, and how
many truths lie in the intervals. Rows that end in "fixed": programs whose shapes never change, when they were steady, over at
least one whole step."""
import collections
import json
import pathlib
import statistics
import subprocess
import sys


def asked(program, *arguments):
    done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else None


def target(recorded, truth, small):
    had, has = "expandable_segments:True" in recorded, "expandable_segments:True" in truth
    if had and not has:
        return "from expandable"
    if has and not had:
        return "to expandable"
    for option in ("max_split_size_mb", "roundup_power2_divisions", "garbage_collection_threshold", "large_segment_size_mb"):
        if (option in recorded) != (option in truth):
            return option
    if small:
        return "capacity"
    return "both expandable" if had and recorded != truth else "same"


class Row:
    def __init__(self):
        self.errors, self.inside, self.widths = [], [], []

    def add(self, estimate, interval, truth):
        low, high = interval or (estimate, estimate)
        self.errors.append(abs(estimate / truth - 1) * 100)
        self.inside.append(low <= truth <= high)
        self.widths.append((high / low - 1) * 100)

    def __str__(self):
        errors, count = sorted(self.errors), len(self.errors)
        within = [100 * sum(error <= limit for error in errors) / count for limit in (1, 5)]
        return (f"{count:6} {statistics.median(errors):7.1f} {errors[count * 9 // 10]:6.0f} {errors[-1]:6.0f} {within[0]:5.0f} {within[1]:5.0f} "
                f"{100 * sum(self.inside) / count:7.1f} {statistics.median(self.widths):7.0f}")


def main():
    program, rows = sys.argv[1], collections.defaultdict(Row)
    ends, failed = Row(), 0
    for recording in sorted(path for folder in sys.argv[2:] for path in pathlib.Path(folder).glob("*.pickle")):
        side = json.loads(recording.with_suffix(".json").read_text())
        kind = asked(program, "info", recording)["trace"]["coverage"].get("class")
        for truth in side["truths"]:
            if truth.get("ended_by_oom") or truth.get("reached_window") is False:
                continue
            answer = asked(program, "replay", recording, "--alloc-conf", truth["config"], "--torch-version", side["torch_version"].split("+")[0],
                           "--capacity", truth["capacity_mib"] * 2**20, "--address-policy", "first-fit")
            if answer is None:
                failed += 1
                continue
            run, name = answer["runs"][0], target(side["config"], truth["config"], truth["capacity_mib"] < side["capacity_mib"])
            interval = run["interval"] or {}
            result = run["peak_reserved_bytes"], interval.get("peak_reserved_bytes"), truth["reserved_peak_in_window"]
            names = [name, "all", f"class {kind}"] + ([f"{name}, fixed"] if side.get("fixed") and side["whole_steps"] > 0 and kind == "steady" else [])
            for each in names:
                rows[each].add(*result)
            ends.add(run["end_reserved_bytes"], interval.get("end_reserved_bytes"), truth["reserved_at_end"])
    print(f"{'target':36} truths  median    p90  worst  <=1%  <=5%  inside   width")
    for name in sorted(rows):
        print(f"{name:36} {rows[name]}")
    print(f"{'reserved at the end':36} {ends}")
    if failed:
        sys.exit(f"{failed} replays failed")


main()
