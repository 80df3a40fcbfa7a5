"""Records the allocations of this process from the moment that torch is there."""
import contextlib
import importlib.abc
import importlib.util
import multiprocessing
import os
import pickle
import sys
import tempfile

DEFAULT_OUTPUT = "memreplay_rank{rank}.pickle"
TUNING_SECONDS = 20


def rank():
    """The number of this process among its peers, as launchers tell it; SpawnProcess-3 has 3."""
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    number = multiprocessing.current_process().name.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def say(text):
    """A message for the person; the program's own standard output stays as it is."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


class Recorder:
    """Switches the history on, writes it at the first OOM or at the end, and says what it tells."""

    def __init__(self, output=DEFAULT_OUTPUT, max_entries=1_000_000):
        self.path = os.path.abspath(output.replace("{rank}", str(rank())))
        self.max_entries = max_entries
        self._process = os.getpid()
        self._torch = None
        self._on = self._written = self._finished = False

    def watch_for_torch(self):
        """Records from here on, or from the import of torch on where it is not there yet."""
        if "torch" in sys.modules:
            self.start(sys.modules["torch"])
        else:
            sys.meta_path.insert(0, _AfterImport("torch", self.start))

    def start(self, torch):
        """Switches the history on; does nothing on a machine without a GPU."""
        self._torch = torch
        try:
            if not torch.cuda.is_available():
                say("memreplay: torch has no CUDA device here: nothing is recorded")
                return
            torch.cuda.memory._record_memory_history(max_entries=self.max_entries, stacks="python")
            self._on = True
            torch._C._cuda_attach_out_of_memory_observer(self._out_of_memory)
        except Exception as error:  # whatever it is, the program is to run
            say(f"memreplay: cannot {'see out of memory' if self._on else 'record'}: {error}")

    def _out_of_memory(self, *_):
        if not self._written:
            self._write()

    def _write(self):
        """The snapshot as a file that is complete whenever it is there."""
        try:
            snapshot = self._torch.cuda.memory._snapshot()
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with tempfile.NamedTemporaryFile(
                    dir=os.path.dirname(self.path), prefix=".memreplay", delete=False) as file:
                try:
                    pickle.dump(snapshot, file)
                    file.close()
                    os.replace(file.name, self.path)
                except BaseException:
                    os.unlink(file.name)
                    raise
            self._written = True
        except Exception as error:
            say(f"memreplay: {self.path}: cannot write the snapshot: {error}")

    def finish(self):
        """At the end of the program, however it ends: the snapshot, and what it tells, on standard error."""
        if self._finished or os.getpid() != self._process:
            return
        self._finished = True
        if self._torch is None:
            say("memreplay: the program never imported torch: nothing was recorded")
        if not self._on:
            return
        if not self._written:
            self._write()
        if self._written:
            self._tell()

    def _tell(self):
        import memreplay

        say(f"memreplay: {self.path}")
        for question in (lambda: memreplay.explain(self.path).text(),
                         lambda: memreplay.tune(self.path, seconds=TUNING_SECONDS).sentence_of()):
            try:
                say(question().rstrip())
            except memreplay.Error as error:
                say(f"memreplay: {error}")


class _AfterImport(importlib.abc.MetaPathFinder):
    """Calls `then` with a module right after it was imported for the first time."""

    def __init__(self, name, then):
        self._name, self._then = name, then

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self._then(module)

        spec.loader.exec_module = exec_module
        return spec
