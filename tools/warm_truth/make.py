#!/usr/bin/env python3
"""make.py OUT RUN [PROGRAM SEED]...: records programs whole under every setting and cuts them to what would be left of a recording that
starts late, into OUT/whole and OUT/cuts. RUN is a command that runs a Python script with PyTorch, given a configuration, the device's MiB, the
script and its arguments. Without programs: all of unseen.py. What is there already is not made again."""
import json
import pathlib
import shlex
import subprocess
import sys

SETTINGS = {"default": "", "ms32": "max_split_size_mb:32", "ms128": "max_split_size_mb:128", "ru4": "roundup_power2_divisions:4",
            "exp": "expandable_segments:True", "lseg64": "large_segment_size_mb:64"}
DEVICE_MIB = 81920
SMALLER = {"default": (.93, .82), "exp": (.95,)}
CUTS = {"late1": lambda steps: "step:1", "late60": lambda steps: f"step:{round(.6 * steps)}", "ring2500": lambda steps: "entries:2500"}
SHORTEST = 3500  # entries of a history whose ring would have lost some
HERE = pathlib.Path(__file__).parent


class Family:
    """One program with one seed."""

    def __init__(self, out, run, program, seed):
        self.out, self.run, self.program, self.seed = out, run, program, seed
        self.truths = {name: self.recorded(name, conf, DEVICE_MIB) for name, conf in SETTINGS.items()}
        self.smaller = {name: [self.recorded(name, SETTINGS[name], int(share * self.peak_mib(name))) for share in shares]
                        for name, shares in SMALLER.items()}

    def recorded(self, name, conf, mib):
        suffix = name if mib == DEVICE_MIB else f"{name}@{mib}"
        path = self.out / "whole" / f"{self.program}-s{self.seed}.{suffix}"
        if not path.with_name(path.name + ".json").exists():
            subprocess.run([*self.run, conf, str(mib), "record.py", self.program, self.seed, str(path)], cwd=HERE, check=True)
        return str(path), str(mib), conf

    def notes(self, name):
        return json.loads(pathlib.Path(self.truths[name][0] + ".json").read_text())

    def peak_mib(self, name):
        return self.notes(name)["peak_reserved"] / 2**20

    def cut(self, name):
        notes = self.notes(name)
        for cut, last in CUTS.items():
            out = self.out / "cuts" / f"{self.program}-s{self.seed}-{cut}.{name}"
            if out.with_name(out.name + ".json").exists() or (cut == "ring2500" and notes["entries"] <= SHORTEST):
                continue
            truths = [truth for other, truth in self.truths.items() if other != name] + self.smaller[name]
            subprocess.run([sys.executable, "cut.py", str(out), *self.truths[name], last(len(notes["steps"]) - 1), *sum(truths, ())],
                           cwd=HERE, check=True)


def all_programs(run):
    listed = subprocess.run([*run, "", "1024", "record.py"], cwd=HERE, capture_output=True, text=True, check=True).stdout.split()
    for program, kind in zip(*[iter(listed)] * 2):
        for seed in ("31",) if kind == "fixed" else ("31", "32"):
            yield program, seed


def main():
    out, run = pathlib.Path(sys.argv[1]).resolve(), shlex.split(sys.argv[2])
    for folder in ("whole", "cuts"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for program, seed in zip(*[iter(sys.argv[3:])] * 2) if sys.argv[3:] else all_programs(run):
        family = Family(out, run, program, seed)
        for name in SMALLER:
            family.cut(name)


main()
