#!/usr/bin/env python3
"""cut.py OUT HISTORY CAPACITY_MIB CONF LAST [TRUTH CAPACITY_MIB CONF]...: makes a recording that starts late out of a complete one, as the
ring of entries would have: LAST is `step:N` (after N steps) or `entries:N` (the last N). HISTORY and TRUTH are what record.py wrote (without
suffix), of the same program and seed; each TRUTH is measured over the same requests. Writes OUT.pickle and OUT.json."""
import json
import pathlib
import pickle
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from values import values_in  # noqa: E402

GROWS, SHRINKS = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")


class Run:
    def __init__(self, path):
        self.snapshot = values_in(path + ".pickle")
        self.notes = json.loads(pathlib.Path(path + ".json").read_text())
        self.entries = self.snapshot["device_traces"][0]

    def requests(self):
        return [entry["size"] for entry in self.entries if entry["action"] == "alloc"]

    def entry_of(self, request):
        """The first entry that belongs to this request or follows the one before it."""
        seen = 0
        for number, entry in enumerate(self.entries):
            if seen == request:
                return number
            seen += entry["action"] == "alloc"
        return len(self.entries)

    def window(self, request):
        """Reserved bytes when the window begins, at most in it, and at its end."""
        first, reserved, start, peak = self.entry_of(request), 0, 0, 0
        for number, entry in enumerate(self.entries):
            if number == first:
                start = peak = reserved
            reserved += entry["size"] * ((entry["action"] in GROWS) - (entry["action"] in SHRINKS))
            peak = max(peak, reserved)
        return {"reserved_at_start": start, "reserved_peak_in_window": peak, "reserved_at_end": reserved,
                "ended_by_oom": self.notes["ended_by_oom"], "num_alloc_retries_whole_run": self.notes["retries"]}


def first_request(run, last):
    kind, count = last.split(":")
    if kind == "step":
        return run.notes["steps"][int(count)]
    kept = run.entries[:-int(count)]
    return sum(entry["action"] == "alloc" for entry in kept)


def main():
    out, history, capacity, conf, last, *truths = sys.argv[1:]
    run = Run(history)
    request = first_request(run, last)
    sidecar = {"format": "warm-recording 1", "program": run.notes["program"], "seed": run.notes["seed"], "fixed": run.notes["fixed"],
               "config": conf, "capacity_mib": int(capacity), "torch_version": run.notes["torch_version"],
               "window_allocations": len(run.requests()) - request, "whole_steps": sum(step >= request for step in run.notes["steps"]) - 1,
               "recorded": run.window(request), "truths": []}
    for path, truth_capacity, truth_conf in zip(*[iter(truths)] * 3):
        other = Run(path)
        if not other.notes["ended_by_oom"] and other.requests() != run.requests():
            sys.exit(f"{path}: another row of requests than {history}")
        sidecar["truths"].append({"config": truth_conf, "config_name": path.rpartition(".")[2], "capacity_mib": int(truth_capacity),
                                  "reached_window": len(other.requests()) > request, **other.window(request)})
    run.snapshot["device_traces"][0] = run.entries[run.entry_of(request):]
    pathlib.Path(out + ".pickle").write_bytes(pickle.dumps(run.snapshot, protocol=4))
    pathlib.Path(out + ".json").write_text(json.dumps(sidecar, indent=1))


main()
