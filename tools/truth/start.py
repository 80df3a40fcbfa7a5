"""Runs a program for tools/truth, and writes where in its history it begins and dumps recordings of its own.

Usage: start.py MARKS PROGRAM[:FUNCTION] [ARGUMENT...]

MARKS is written as JSON: for each dump its name, the events before its history began, those before the dump, and how many its
history could hold. With FUNCTION the file is loaded and that function called. Initial weights are left as they are in host
memory, which nobody has touched: no request depends on them, and a model of 13 GB then takes none.
"""
import json
import pathlib
import runpy
import sys

import torch

MARKS = pathlib.Path(sys.argv[1])
marks, begun = [], {"at": 0, "holds": sys.maxsize}


def events():
    """How many there are; to ask leaves one more."""
    traces = torch.cuda.memory._snapshot()["device_traces"] if torch.cuda.is_initialized() else []
    return max(map(len, traces), default=0)


def mark_history():
    memory, switch, dump = torch.cuda.memory, torch.cuda.memory._record_memory_history, torch.cuda.memory._dump_snapshot

    def switched(enabled="all", *arguments, max_entries=sys.maxsize, **keywords):
        if enabled:
            begun.update(at=events() + torch.cuda.is_initialized(), holds=max_entries)
        return switch(enabled, *arguments, max_entries=max_entries, **keywords)

    def dumped(filename="dump_snapshot.pickle", *_, **__):
        marks.append({"name": pathlib.Path(filename).stem, "begin": begun["at"], "end": events(), "holds": begun["holds"]})
        MARKS.write_text(json.dumps(marks))

    memory._record_memory_history, memory._dump_snapshot = switched, dumped


def leave_weights():
    for name in ("trunc_normal_", "normal_", "uniform_", "kaiming_uniform_", "xavier_uniform_"):
        fill = getattr(torch.nn.init, name)
        setattr(torch.nn.init, name, lambda tensor, *a, fill=fill, **k: fill(tensor, *a, **k) if tensor.is_cuda else tensor)


def main():
    path, _, function = sys.argv[2].partition(":")
    sys.argv[1:] = sys.argv[3:]
    sys.argv[0] = path
    sys.path[0] = str(pathlib.Path(path).resolve().parent)
    mark_history()
    leave_weights()
    loaded = runpy.run_path(path, run_name=pathlib.Path(path).stem if function else "__main__")
    if function:
        loaded[function]()


if __name__ == "__main__":
    main()
