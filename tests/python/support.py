"""What the tests of the Python module share."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "traces"
OOM = TRACES / "torch/gpt_train_oom.pickle"
LAYERS = TRACES / "torch/layers_4.pickle"
BATCH_2, BATCH_8 = TRACES / "torch/batch_2.pickle.gz", TRACES / "torch/batch_8.pickle.gz"
PROGRAM = os.environ["MEMREPLAY_PROGRAM"]

sys.path.insert(0, str(ROOT / "tools"))
from shown import masked  # noqa: E402
from values import values_in  # noqa: E402


def commanded(*arguments):
    """What the command prints."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout


def same_apart_from_times(text, other):
    return list(masked(text)) == list(masked(other))


def snapshot(path=OOM):
    return values_in(path)


def without_path(answer):
    """The JSON with no name of a file, and not what kind of file, as a text."""
    text = json.dumps(answer, indent=1, sort_keys=True).replace("snapshot, protocol 4", "snapshot, in memory")
    for name in ("'<snapshot>'", "'<bytes>'", "<bytes>", str(OOM)):  # quoted for a shell
        text = text.replace(name, "<snapshot>")
    return text
