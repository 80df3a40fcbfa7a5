#!/usr/bin/env python3
"""Releases of PyTorch side by side: each of the corpus counts under torch@X.Y what the original counted.

Usage: releases_test.py PROGRAM. Skipped where ../shared/corpus/torch is not there.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

CORPUS = pathlib.Path(__file__).resolve().parents[3] / "shared/corpus/torch"
UNRECORDED = {"num_sync_all_streams", "num_oom_rejections"}  # a snapshot does not show all of them
NEWEST = "2.15"


def strategy(release, config):
    options = re.sub(r"(^|,)(\w+):", r"\1\2=", config)
    return f"torch@{release}:{options}"


def differences(program, recording, truth):
    """The counters of memory_stats() that are not the original's."""
    release = ".".join(truth["torch_version"].split(".")[:2])
    asked_for = strategy(release, truth["config"])
    run = subprocess.run(
        [program, "compare", recording, "-s", strategy(NEWEST, truth["config"]), "-s", asked_for, "--capacity",
         f"{truth['capacity_mib']}MiB", "--address-policy", "first-fit", "--json"],
        capture_output=True, text=True, check=True)
    counters = {run["strategy"]: run["counters"] for run in json.loads(run.stdout)["runs"]}
    assert set(counters) == {strategy(NEWEST, truth["config"]), asked_for}, counters.keys()
    return [key for key, value in truth["memory_stats"].items()
            if key not in UNRECORDED and counters[asked_for].get(key) != value]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    program = parser.parse_args().program
    sidecars = sorted(CORPUS.glob("*-v*.json"))
    if not sidecars:
        print(f"skipped: no recordings of older releases in {CORPUS}")
        return 0
    wrong = 0
    for sidecar in sidecars:
        different = differences(program, sidecar.with_suffix(".pickle"), json.loads(sidecar.read_text()))
        wrong += bool(different)
        if different:
            print(f"{sidecar.stem}: {', '.join(different)}")
    print(f"{len(sidecars)} recordings, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
