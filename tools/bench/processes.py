"""Whole processes: their wall time, their peak memory, what they print."""
import dataclasses
import json
import os
import re
import subprocess
import tempfile
import time


class Failed(Exception):
    """A program ended as it should not."""


@dataclasses.dataclass
class Done:
    seconds: float
    processor_seconds: float
    peak_mib: float
    output: str


def done(command, **process_options):
    """Runs it once. Memory that this interpreter holds counts as the peak of what it starts: keep that small."""
    command = [str(part) for part in command]
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=said, text=True, **process_options) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            raise Failed(f"`{' '.join(command)}` ended with status {process.returncode}: {said.read().strip()}")
    return Done(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def instructions(command):
    """How many it takes by valgrind, which only counts (exp-bbv), and how it ran."""
    counting = ["valgrind", "--tool=exp-bbv", "--instr-count-only=yes", "--bb-out-file=/dev/null"]
    ran = subprocess.run([*counting, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return int(re.search(r"Total instructions: (\d+)", ran.stderr)[1]), ran


def answer(command):
    """What it says as JSON."""
    return json.loads(done([*command, "--json", "--quiet"]).output)


def replayed(program, trace, strategy, *options):
    """The run of one strategy, its time the median of three replays of a trace that was read once."""
    return answer([program, "replay", trace, "-s", strategy, "--repeat", "3", *options])["runs"][0]


def rate(run):
    """Millions of events a second."""
    return run["timing"]["events_per_second"] / 1e6
