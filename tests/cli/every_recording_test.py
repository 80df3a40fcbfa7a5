"""Every command that takes a recording answers every recording.

Usage: every_recording_test.py PROGRAM [--shared]

Of the bundled traces, every third also as recorded anew under expandable segments; with --shared all
of them, and those beside the repository, which may be absent.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
EXPANDABLE = "torch:expandable_segments=True"
COMMANDS = (
    "info {}", "verify {}", "lint {}", "replay {}", "replay {} -s recorded --capacity none",
    f"replay {{}} -s {EXPANDABLE} --capacity 80GiB", f"compare {{}} -s torch -s {EXPANDABLE} -s bfc --capacity none",
    "compare {} -s torch -s buddy -s bump --capacity 300MiB", "explain {}", "explain {} --capacity none",
    "explain {} --capacity 300MiB -s torch", "explain {} --growth", "explain {} --by-phase", "tune {} --runs 4",
    "tune {} --runs 4 --capacity none", "fit {}", f"fit {{}} -s {EXPANDABLE} --capacity none", "suggest {} --budget 300MiB",
    "suggest {} --budget 80GiB", "stress {} --orders 4", "plan {} --timeout 1", "ranks {}", "diff {} {}",
    "check {} --baseline {out}/baseline.json --update", "check {} --baseline {out}/baseline.json", "report {} -o {out}/page.html", "convert {} {out}/trace.mrt")
# Smaller than what the commands ask about, with addresses as its driver gives them.
LIKE_A_CARD = ("--capacity", "40GiB", "--address-policy", "cuda-linux")
# What a recording may lack for a question, as people are told it; {file} is its name.
LACKS = (
    r"nothing (is|was) (requested|allocated)", r"no (request|history|event|device|memory|trace)", r"has (no|only|neither) ",
    r"needs (a|an) ", r"no usable settings", r"expected ", r"not a recording", r"is a text about memory",
    r"no (two )?steps", r"does not apply", r"there is nothing to", r"no allocation", r"without events")
PROGRAM = ""


def memreplay(arguments):
    return subprocess.run([PROGRAM, *arguments], cwd=ROOT, text=True, errors="replace", capture_output=True, check=False, timeout=600)


def faults_of(recording, out):
    folder = pathlib.Path(tempfile.mkdtemp(dir=out))
    for command in COMMANDS:
        arguments = [word.replace("{out}", str(folder)).replace("{}", str(recording)) for word in command.split()]
        result = memreplay(arguments)
        said = (result.stderr or result.stdout).strip()
        if result.returncode in (0, 1):
            continue
        if result.returncode == 2 and any(re.search(lack, said) for lack in LACKS):
            continue
        yield f"{recording}: {command}: ends with {result.returncode}: {said[-200:]}"


def under_expandable_segments(recordings, out):
    """The same programs, as they are recorded under that setting."""
    for recording in recordings:
        made = pathlib.Path(out) / f"{recording.name.split('.')[0]}.expandable.pickle"
        if memreplay(["convert", str(recording), str(made), "-s", EXPANDABLE, *LIKE_A_CARD]).returncode == 0:
            yield made


def main():
    with tempfile.TemporaryDirectory() as out:
        recordings = sorted((ROOT / "traces" / "torch").glob("*.pickle*"))
        to_make_anew = recordings[::3]
        if "--shared" in sys.argv:
            shared = sorted([*(SHARED / "corpus" / "torch").glob("*.pickle*"), *(SHARED / "cases" / "judge").glob("*.pickle*")])
            if not shared:
                print(f"skipped: no recordings in {SHARED}")
                return 0
            to_make_anew = recordings = [*recordings, *shared]
        expandable = list(under_expandable_segments(to_make_anew, out))
        if not expandable:
            print("no recording under expandable segments")
            return 1
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda recording: list(faults_of(recording, out)), [*recordings, *expandable])
            faults = [fault for of in found for fault in of]
        print(f"{len(recordings)} recordings, {len(expandable)} of them under expandable segments too, {len(COMMANDS)} commands: "
              f"{len(faults)} faults")
        print(*faults[:40], sep="\n")
        return 1 if faults else 0


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    sys.exit(main())
