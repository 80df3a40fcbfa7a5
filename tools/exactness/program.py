"""Asks the program about one recording, in the words that the corpus uses."""
import json
import re
import subprocess

MIB = 2**20


def asked(program, *arguments):
    """What the program answers as JSON and an empty string, or nothing and the reason."""
    run = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    try:
        return json.loads(run.stdout), ""
    except ValueError:
        return None, run.stderr.strip().removeprefix("memreplay: ") or f"exit status {run.returncode}"


def settings_of(truth):
    """The allocator's setting, with the limit that the program set by a call."""
    fraction = truth.get("memory_fraction_call")
    return ",".join(filter(None, [truth["config"], fraction and f"per_process_memory_fraction:{fraction}"]))


def release_of(text):
    return re.search(r"\d+\.\d+\.\d+", text)[0]


def replayed(program, recording, truth, release):
    """One replay under the settings and on the device of a truth."""
    answer, reason = asked(
        program, "replay", recording, "--alloc-conf", settings_of(truth), "--torch-version", release_of(release),
        "--capacity", truth["capacity_mib"] * MIB, "--reserve", truth.get("context_mib", 0) * MIB,
        "--address-policy", "first-fit")
    return (answer["runs"][0], "") if answer else (None, reason)


def table(heading, rows):
    """A Markdown table; figures to the right."""
    yield "| " + " | ".join(heading) + " |"
    yield "|" + "|".join("---:" if all(isinstance(row[i], int) or row[i][:1].isdigit() for row in rows) else "---"
                         for i in range(len(heading))) + "|"
    for row in rows:
        yield "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) + " |"
