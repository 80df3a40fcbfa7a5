"""python -m memreplay vllm: what vLLM makes of a card, from a model's config.json, without weights and without the card.

vLLM itself starts under `record --virtual-gpu` and decides everything; the figures are those of its own log lines, and of
the recording.
"""
import argparse
import collections
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys

from . import _values
from ._program import path

MIB, GIB = 1 << 20, 1 << 30
LINES = {
    "weights_gib": r"Model loading took ([\d.]+) GiB",
    "activation_gib": r"torch peak memory increase: ([\d.]+) ?GiB",
    "non_torch_gib": r"non-torch forward increase memory: ([\d.]+) ?GiB",
    "graphs_gib": r"Graph capturing finished in \d+ secs, took (-?[\d.]+) GiB",
    "kv_cache_gib": r"Available KV cache memory: (-?[\d.]+) GiB",
}
COLUMNS = {"weights_gib": "weights", "activation_gib": "activation peak", "non_torch_gib": "non-torch", "graphs_gib": "graphs",
           "kv_cache_gib": "KV cache", "blocks": "blocks", "tokens": "tokens"}
BY_DEFAULT = {"load_format": "dummy", "skip_tokenizer_init": True, "enforce_eager": True}
UNKNOWN = """Not known without the card: the code of kernels beyond the first (non-torch memory was 0.07 GiB higher on a real H100),
which kernels a mixture of experts would choose (by what is installed), and what graphs take outside of PyTorch."""


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m memreplay vllm", description="Starts vLLM on a virtual GPU: weights, activation peak and KV cache.",
        epilog="Example: python -m memreplay vllm config.json max_num_seqs=256,1024 gpu_memory_utilization=0.9,0.95")
    parser.add_argument("config", help="a model's config.json, or the folder that has it")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE[,VALUE...]",
                        help="an argument of vllm.LLM; several values: a start for each")
    parser.add_argument("--card", default="h100-80gb", help="of memreplay list cards. Default: h100-80gb.")
    parser.add_argument("--python", default=sys.executable, help="the Python that has vLLM. Default: this one.")
    parser.add_argument("-o", "--output", default="vllm", metavar="FOLDER",
                        help="recordings and logs, those of the N-th start as N.pickle and N.log. Default: vllm.")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    parser.add_argument("--top", type=int, default=8, help="call sites of the activation peak. Default: 8.")
    options = parser.parse_args(arguments)
    if os.path.basename(options.config) == "config.json":
        options.config = os.path.dirname(os.path.abspath(options.config))
    if not os.path.isfile(os.path.join(options.config, "config.json")):
        parser.error(f"{options.config} has no config.json; expected the folder of a model")
    options.settings = dict(setting(parser, text) for text in options.settings)
    return options


def setting(parser, text):
    """A name and its values: numbers and truths as JSON has them, else texts."""
    name, equals, values = text.partition("=")
    if not (equals and name.isidentifier()):
        parser.error(f"'{text}' is no setting; expected NAME=VALUE, an argument of vllm.LLM")
    return name, [value_of(value) for value in values.split(",")]


def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def start(options, settings, name):
    """One start of the engine: what it said, and what its recording holds."""
    arguments = {**BY_DEFAULT, **settings, "model": os.path.abspath(options.config)}
    recording, log = (os.path.join(options.output, name + ending) for ending in (".pickle", ".log"))
    command = [path(), "record", "--virtual-gpu", options.card, "--quiet", "-o", recording, "--", options.python,
               os.path.join(os.path.dirname(os.path.abspath(__file__)), "_vllm_start.py"), json.dumps(arguments)]
    for left in (recording, log):  # by an earlier start, or by somebody else: no figure is that one's
        with contextlib.suppress(FileNotFoundError):
            os.unlink(left)
    with open(log, "x", encoding="utf-8") as file:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    with open(log, encoding="utf-8", errors="replace") as file:
        found = figures_of(file.read())
    found.update(settings=settings, exit_status=status, recording=recording, log=log)
    if os.path.exists(recording):
        try:
            snapshot = _values.values_in(recording)
            found.update(activation=activation_peak(snapshot), graphs=graphs(snapshot))
        except Exception as error:  # whatever is wrong with it, it came from another program
            found["error"] = found["error"] or f"{recording} cannot be read: {error}"
    return found


def figures_of(text):
    """What the lines of a log say; None for what no line says."""
    figures = {}
    for name, line in LINES.items():
        match = re.search(line, text)
        figures[name] = float(match[1]) if match else None
    said = re.search(r"^memreplay-vllm (.*)$", text, re.MULTILINE)
    figures.update(json.loads(said[1]) if said else {"blocks": None, "block_size": None})
    figures["tokens"] = figures["blocks"] * figures["block_size"] if said else None
    errors = re.findall(r"^(?:\w+\.)*(?:\w*Error|\w*Exception): .*$", text, re.MULTILINE)
    figures["error"] = errors[-1] if errors and not said else None
    return figures


def called_in(snapshot, function):
    """The history from the first event under this function to the last one."""
    entries = max(snapshot["device_traces"], key=len)
    inside = [at for at, entry in enumerate(entries)
              if any(frame["name"] == function for frame in entry.get("frames", ()))]
    return entries[inside[0]:inside[-1] + 1] if inside else []


def graphs(snapshot):
    """What capturing reserved, what of it the graphs' pools hold at the end, and what it left outside of them, in bytes."""
    signs = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
    events = called_in(snapshot, "capture_model")
    reserved = sum(signs.get(entry["action"], 0) * entry["size"] for entry in events)
    pools = sum(segment["total_size"] for segment in snapshot["segments"] if tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0))
    return {"reserved_bytes": reserved, "pool_bytes": pools, "left_outside_bytes": reserved - pools} if events else None


def activation_peak(snapshot):
    """What the profile run held at its peak beyond what was there before, by the innermost place in vLLM: sizes in bytes."""
    events = called_in(snapshot, "profile_run")
    if not events:
        return None
    live, held, peak, at_peak = {}, 0, 0, {}
    for entry in events:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry
            held += entry["size"]
            if held > peak:
                peak, at_peak = held, dict(live)
        elif entry["action"] == "free_completed" and live.pop(entry["addr"], None):
            held -= entry["size"]
    places = collections.Counter()
    for entry in at_peak.values():
        places[place_of(entry["frames"])] += entry["size"]
    return {"bytes": peak, "places": [{"place": place, "bytes": size} for place, size in places.most_common()]}


def place_of(frames):
    for frame in frames:
        file = frame["filename"].replace(os.sep, "/")
        if "/vllm/" in file and not frame["name"].startswith("__"):  # those pass a call on
            return f"{file.rpartition('/vllm/')[2]}:{frame['line']} {frame['name']}"
    return "outside of vLLM"


def text_of(starts, top):
    """A table, its picture, and what the activation peak of the first start is made of."""
    varied = [name for name in starts[0]["settings"] if len({str(start["settings"][name]) for start in starts}) > 1]
    rows = [[*varied, *(title + " GiB" * name.endswith("gib") for name, title in COLUMNS.items())]]
    rows += [[*(str(start["settings"][name]) for name in varied), *(shown(start[name]) for name in COLUMNS)] for start in starts]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    most = max((start["tokens"] or 0 for start in starts), default=0)
    if len(starts) > 1 and most:
        lines += ["", "KV cache, tokens"]
        names = [" ".join(f"{name}={start['settings'][name]}" for name in varied) for start in starts]
        lines += [f"{name:{max(map(len, names))}}  {'█' * round(40 * (start['tokens'] or 0) / most)} {shown(start['tokens'])}"
                  for name, start in zip(names, starts)]
    for start in starts:
        if start["error"]:
            lines += ["", f"{start['log']}: {start['error']}"]
    for start in starts:
        peak = start.get("activation")
        if not peak:
            continue
        title = " ".join(f"{name}={start['settings'][name]}" for name in varied)
        lines += ["", f"Activation peak{' at ' * bool(title)}{title}: {peak['bytes'] / GIB:.2f} GiB"]
        lines += [f"{place['bytes'] / MIB:>9,.0f} MiB  {place['place']}" for place in peak["places"][:top]
                  if place["bytes"] >= MIB]
        if start["graphs"]:
            sizes = {name: f"{size / MIB:,.0f} MiB" for name, size in start["graphs"].items()}
            lines += ["", f"Graphs reserved {sizes['reserved_bytes']}: {sizes['pool_bytes']} in their pools at the end, "
                      f"{sizes['left_outside_bytes']} that their warm-up left outside."]
    return "\n".join([*lines, "", UNKNOWN])


def printable(text):
    """As it may reach a terminal: logs and recordings are other programs'."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shown(value):
    return "-" if value is None else f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def main(arguments):
    options = parsed(arguments)
    os.makedirs(options.output, exist_ok=True)
    starts = []
    for values in itertools.product(*options.settings.values()):
        starts.append(start(options, dict(zip(options.settings, values)), str(len(starts) + 1)))
    print(json.dumps(starts, indent=1) if options.json else printable(text_of(starts, options.top)))
    return int(any(start["exit_status"] or start["error"] for start in starts))
