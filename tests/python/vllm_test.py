"""python -m memreplay vllm, with what stands for the engine: its log lines and a recording of its profile run."""
import argparse
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from support import PROGRAM

from memreplay import _vllm

MIB = 1 << 20
LOG = """DEBUG 11-26 [gpu_worker.py:284] Initial free memory: 78.69 GiB; Requested memory: 0.90 (util), 71.26 GiB
INFO 11-26 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 0.5 seconds
DEBUG 11-26 [gpu_worker.py:297] Total non KV cache memory: 6.68GiB; torch peak memory increase: 4.76GiB; non-torch forward \
increase memory: 0.13GiB; weights memory: 14.99GiB.
INFO 11-26 [gpu_worker.py:298] Available KV cache memory: 51.38 GiB
"""
END = 'memreplay-vllm {"blocks": 3288, "block_size": 128, "max_num_seqs": 1024}'
# Prints what a real start does, and says which arguments it got.
ENGINE = f"""#!/bin/sh
case "$2" in *'"max_num_seqs": 7,'*) echo "ValueError: no memory left for the cache"; exit 3 ;; esac
cat <<'END'
{LOG}{END}
END
"""


def entry(action, address, size, *frames):
    return {"action": action, "addr": address, "size": size, "stream": 0,
            "frames": [{"filename": f"/p/site-packages/{file}", "line": 7, "name": name} for file, name in frames]}


PROFILE = ("vllm/v1/worker/gpu_model_runner.py", "profile_run")
SAMPLER = ("vllm/v1/sample/sampler.py", "forward"), PROFILE
MLP = ("torch/nn/functional.py", "linear"), ("vllm/models/llama.py", "mlp"), PROFILE


# Stands for `record`: the recording is the file that FAKE_RECORDING names.
RECORDS = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp "$FAKE_RECORDING" "$2"
"""


class Touches:
    """A value that would write a file where it is made: what is read makes none."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


class Vllm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "config.json").write_text("{}")
        engine = self.folder / "engine"
        engine.write_text(ENGINE)
        engine.chmod(0o755)

    def vllm(self, *arguments):
        path = f"{pathlib.Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run([sys.executable, "-m", "memreplay", "vllm", *arguments, "--python", "./engine"], cwd=self.folder,
                              env={**os.environ, "XDG_CACHE_HOME": f"{self.folder}/cache", "PATH": path},
                              capture_output=True, text=True, check=False)

    def test_the_figures_are_those_of_the_engine(self):
        done = self.vllm("config.json", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        start = json.loads(done.stdout)[0]
        told = {name: start[name] for name in _vllm.COLUMNS}
        self.assertEqual(told, {"weights_gib": 14.9889, "activation_gib": 4.76, "non_torch_gib": 0.13, "graphs_gib": None,
                                "kv_cache_gib": 51.38, "blocks": 3288, "tokens": 3288 * 128})
        self.assertEqual((self.folder / "vllm/1.log").read_text()[:len(LOG)], LOG)

    def test_each_value_is_a_start_with_a_row(self):
        done = self.vllm("config.json", "max_num_seqs=256,1024", "gpu_memory_utilization=0.9")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = done.stdout.splitlines()
        self.assertEqual(rows[0].split()[0], "max_num_seqs")
        self.assertEqual([row.split()[0] for row in rows[1:3]], ["256", "1024"])
        self.assertEqual(rows[1].split()[-1], "420,864")
        self.assertIn("max_num_seqs=1024  " + "█" * 40 + " 420,864", rows)

    def test_an_engine_that_fails_is_named_with_its_log(self):
        done = self.vllm(".", "max_num_seqs=7")
        self.assertEqual(done.returncode, 1)
        self.assertIn("vllm/1.log: ValueError: no memory left for the cache", done.stdout)

    def test_what_lies_in_the_folder_is_neither_read_nor_written_through(self):
        out, ran, mine = self.folder / "vllm", self.folder / "ran", self.folder / "mine"
        out.mkdir()
        mine.write_text("mine")
        (out / "1.log").symlink_to(mine)
        for left in (Touches(ran), {"segments": [], "device_traces": [[entry("alloc", 1, MIB, PROFILE)]]}):
            (out / "1.pickle").write_bytes(pickle.dumps(left))
            done = self.vllm(".", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("activation", json.loads(done.stdout)[0])
            self.assertFalse((out / "1.pickle").exists())
        self.assertFalse(ran.exists())
        self.assertEqual(mine.read_text(), "mine")

    def started(self, content):
        """One start whose recording has this content."""
        (self.folder / "made").write_bytes(content)
        record = self.folder / "record"
        record.write_text(RECORDS)
        record.chmod(0o755)
        asked = argparse.Namespace(config=str(self.folder), output=str(self.folder), card="t4", python="none")
        with mock.patch.object(_vllm, "path", lambda: str(record)), \
                mock.patch.dict(os.environ, FAKE_RECORDING=str(self.folder / "made")):
            return _vllm.start(asked, {}, "1")

    def test_a_recording_that_wants_to_run_code_or_is_none_is_an_error(self):
        ran = self.folder / "ran"
        for content in (pickle.dumps(Touches(ran)), b"", b"no pickle", pickle.dumps(5), pickle.dumps({"device_traces": []})):
            found = self.started(content)
            self.assertIn("1.pickle cannot be read", found["error"])
            self.assertNotIn("activation", found)
        self.assertFalse(ran.exists())
        snapshot = {"segments": [], "device_traces": [[entry("alloc", 1, MIB, PROFILE)]]}
        self.assertEqual(self.started(pickle.dumps(snapshot))["activation"]["bytes"], MIB)

    def test_a_log_is_no_command_to_the_terminal(self):
        self.assertEqual(_vllm.printable("a\x1b[2J\u202e\n\udc80é█"), "a\\x1b[2J\\u202e\n\\udc80é█")

    def test_what_is_no_model_and_no_setting_is_refused(self):
        for arguments, said in ((["none"], "none has no config.json"), ((".", "256"), "'256' is no setting; expected NAME=VALUE")):
            done = self.vllm(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_the_peak_is_that_of_the_profile_run_by_place_in_the_engine(self):
        entries = [entry("alloc", 1, 900 * MIB), entry("alloc", 2, 5 * MIB, *MLP), entry("alloc", 3, 9 * MIB, *MLP),
                   entry("free_completed", 2, 5 * MIB, *MLP), entry("alloc", 4, 30 * MIB, *SAMPLER),
                   entry("free_completed", 4, 30 * MIB, *SAMPLER), entry("alloc", 5, 800 * MIB)]
        self.assertEqual(_vllm.activation_peak({"device_traces": [[], entries]}), {"bytes": 39 * MIB, "places": [
            {"place": "v1/sample/sampler.py:7 forward", "bytes": 30 * MIB},
            {"place": "models/llama.py:7 mlp", "bytes": 9 * MIB}]})

    def test_graphs_are_told_with_what_their_warm_up_leaves(self):
        capture = ("vllm/v1/worker/gpu_model_runner.py", "capture_model")
        snapshot = {"segments": [{"total_size": 20 * MIB, "segment_pool_id": (0, 1)}, {"total_size": 9 * MIB}],
                    "device_traces": [[entry("segment_alloc", 1, 7 * MIB), entry("segment_alloc", 2, 20 * MIB, capture),
                                       entry("segment_alloc", 3, 30 * MIB, capture), entry("alloc", 3, MIB, capture),
                                       entry("segment_free", 3, 30 * MIB, capture), entry("segment_alloc", 4, 2 * MIB, capture)]]}
        self.assertEqual(_vllm.graphs(snapshot), {"reserved_bytes": 22 * MIB, "pool_bytes": 20 * MIB,
                                                  "left_outside_bytes": 2 * MIB})
        self.assertIsNone(_vllm.graphs({"segments": [], "device_traces": [[]]}))

    def test_an_error_stands_where_figures_are_missing(self):
        found = _vllm.figures_of(LOG + "Traceback\nValueError: No available memory for the cache blocks.\n")
        self.assertEqual(found["error"], "ValueError: No available memory for the cache blocks.")
        self.assertEqual((found["kv_cache_gib"], found["tokens"]), (51.38, None))


if __name__ == "__main__":
    unittest.main()
