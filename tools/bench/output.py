"""Figures as lines for people and as JSON."""
import datetime
import json
import os
import pathlib
import platform
import shlex
import sys

from cases import Figure

SCHEMA = "memreplay-bench/1"


def machine():
    cpu = platform.machine()
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "load_before": round(os.getloadavg()[0], 1)}


def heading():
    return {"schema": SCHEMA, "command": shlex.join(sys.argv), "machine": machine(),
            "began": datetime.datetime.now().astimezone().isoformat(timespec="seconds")}


def line(figure, then):
    """`then`: the same figure of an earlier sitting, or nothing."""
    if not figure.samples:
        return f"{figure.name}\n    not measured: {figure.note}"
    spread = f"±{figure.spread() * 50:3.0f} %" if len(figure.samples["memreplay"]) > 1 else ""
    parts = [f"{figure.name:<36} {figure.median():9.2f} {figure.unit:<10} {spread:6}"]
    for who in [who for who in figure.samples if who != "memreplay"]:
        ratio_then = f", then {then.ratio(who):.1f}x" if then and who in then.samples else ""
        parts.append(f"{who} {figure.median(who):.2f} ({figure.ratio(who):.1f}x{ratio_then})")
    if then:
        parts.append(f"then {then.median():.2f} ({figure.times_better(figure.median(), then.median()):.2f}x)")
    return "   ".join(parts).rstrip() + (f"\n    {figure.note}" if figure.note else "")


def as_json(figure):
    sides = {who: {"median": figure.median(who), "spread": round(figure.spread(who), 4), "samples": samples}
             for who, samples in figure.samples.items()}
    for who in sides.keys() - {"memreplay"}:
        sides[who]["ratio"] = figure.ratio(who)
    return {"name": figure.name, "unit": figure.unit, "sides": sides, "note": figure.note}


def read(path):
    """Figures of an earlier sitting, by name."""
    report = json.loads(path.read_text(encoding="utf-8"))
    if report.get("schema") != SCHEMA:
        raise SystemExit(f"bench: {path} is not what `bench --json` wrote")
    figures = {}
    for row in report["figures"]:
        samples = {who: side["samples"] for who, side in row["sides"].items()}
        if samples:
            figures[row["name"]] = Figure(row["name"], row["unit"], samples, row["note"])
    return figures


def write(path, heading, figures):
    path.write_text(json.dumps(heading | {"figures": [as_json(figure) for figure in figures]}, indent=1) + "\n",
                    encoding="utf-8")
