"""Records the allocations of this process from the moment that torch first uses CUDA."""
import atexit
import bisect
import contextlib
import functools
import gc
import importlib
import importlib.abc
import importlib.util
import inspect
import multiprocessing.util
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import types

CONFIGURATIONS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF")  # the first one counts
LAST_OF_ALL = -1000  # among what multiprocessing runs when a process of its own ends


def launched_rank():
    """The number of this process among its peers, as launchers tell it; None without one."""
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None


def rank():
    """The launched rank, else the number in the process name: SpawnProcess-3 has 3."""
    number = multiprocessing.current_process().name.rpartition("-")[2]
    launched = launched_rank()
    return launched if launched is not None else int(number) if number.isdigit() else 0


def say(text):
    """A message for the person; the program's own standard output stays as it is."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


ENDING = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1)


@contextlib.contextmanager
def signals_wait():
    """What would end the program in the middle, or begin once more, comes when this is done: launchers and terminals
    send more than one signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = set()
    # A handler that is not Python's (None) cannot be put back.
    handlers = {number: signal.signal(number, lambda number, _: came.add(number))
                for number in ENDING if signal.getsignal(number) not in (None, signal.SIG_IGN)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_BLOCK, came)
        for number in came:
            signal.raise_signal(number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, came)


class Recorder:
    """Switches the history on, and writes it: at an OOM, on a signal, at a step, at the end.

    `path` may be a function, asked when there is something to write. `stacks` is "python", "all" or "none".
    `before_import` gets torch's folder, `on_begin` torch, when it has initialised CUDA; `normalise` may
    change the snapshot before it is written; `on_change` gets the recorder whenever there is more to tell of it.
    """

    def __init__(self, path, *, max_entries=sys.maxsize, stacks="python", at_step=None,
                 before_import=None, on_begin=None, normalise=None, on_change=None, on_finish=None):
        self.max_entries, self.stacks, self.at_step = max_entries, stacks, at_step
        self.torch = None
        self.torch_error = None  # why it is not there, though it was asked for
        self.process = None      # that used CUDA
        self.written = False
        self.write_error = None  # of the last snapshot
        self.ooms = self.steps = 0
        self.pinned = 0          # entries of pinned memory in what was written
        self.own_switches = 0    # of the history by the program, while it is recorded
        self._path = path if callable(path) else lambda: path
        self._before_import, self._on_begin = before_import, on_begin
        self._normalise, self._on_change, self._on_finish = normalise, on_change, on_finish
        self._on = self._finished = self._untold = False
        self._switch_history = None
        self._settings = []      # (time in microseconds, configuration): what held at first, what was passed since
        self._main_holders = 0
        self._first_pinned = None  # the stack

    def watch_for_torch(self):
        """Records from here on, or from the import of torch on where it is not there yet."""
        if "torch" in sys.modules:
            self._imported(sys.modules["torch"])
        else:
            sys.meta_path.insert(0, AroundImport("torch", self._before_import, self._imported, self._not_imported))
        atexit.register(self.finish, at_exit=True)

    @property
    def path(self):
        return os.path.abspath(self._path())

    def _not_imported(self, error):
        self.torch_error = str(error)
        self._changed()

    def _imported(self, torch):
        self.torch, self.torch_error = torch, None
        self._main_holders = _holders_of_the_main_module()
        self._keep_history()
        self._watch_settings()
        self._changed()
        torch.cuda._lazy_call(self._begin)

    def _keep_history(self):
        """While this process is recorded the program cannot end its history, nor shorten it; what it dumps has all."""
        memory = self.torch.cuda.memory
        self._switch_history = switch = memory._record_memory_history
        self._keeps_pinned = "record_pinned_host_memory" in inspect.signature(switch).parameters  # PyTorch 2.14

        @functools.wraps(switch)
        def switch_unless_recorded(*arguments, **keywords):
            if not self._on:
                return switch(*arguments, **keywords)
            self.own_switches += 1
            return None

        memory._record_memory_history = switch_unless_recorded

    def _watch_settings(self):
        """Notes what the program passes to the allocator while it runs; the snapshot knows the last of it alone."""
        first = next((os.environ[name] for name in CONFIGURATIONS if name in os.environ), "")
        self._settings = [(0, first)]
        for name in ("_cuda_cudaCachingAllocator_set_allocator_settings", "_accelerator_setAllocatorSettings"):
            if hasattr(self.torch._C, name):
                setattr(self.torch._C, name, self._noting_settings(getattr(self.torch._C, name)))

    def _noting_settings(self, pass_on):
        @functools.wraps(pass_on)
        def passed(conf):
            now = time.time_ns() // 1000
            pass_on(conf)
            self._settings.append((now, conf))

        return passed

    def _mark_settings(self, snapshot):
        """Writes markers into the history, each before what came after its call."""
        if len(self._settings) == 1:
            return
        for entries in filter(None, snapshot["device_traces"]):
            if "time_us" not in entries[0]:
                say("memreplay: this PyTorch records no times; the settings that the program set on its way are not noted")
                return
            times = [entry["time_us"] for entry in entries]
            for when, conf in reversed(self._settings):
                marker = {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": max(when, times[0]),
                          "user_metadata": f"PYTORCH_CUDA_ALLOC_CONF={conf}", "frames": []}
                if "pool_id" in entries[-1]:
                    marker["pool_id"] = (0, 0)
                entries.insert(bisect.bisect_left(times, when), marker)

    def begin_if_pinned_is_kept(self):
        """Memory is pinned, which may be all that the program has of CUDA."""
        if self.torch and self._keeps_pinned and not self._on:
            if self.stacks != "none":  # PyTorch has looked for the stack already
                self._first_pinned = _frames(sys._getframe(1))
            self._begin()

    def _begin(self):
        if self.process == os.getpid():  # begun where memory was pinned, maybe on another thread
            self._watch_signals()
            return
        self.process = os.getpid()
        multiprocessing.util.Finalize(None, self.finish, exitpriority=LAST_OF_ALL)
        try:
            if self._on_begin:
                self._on_begin(self.torch)
            context = None if self.stacks == "none" else "all"
            stacks = "python" if self.stacks == "none" else self.stacks
            pinned = {"record_pinned_host_memory": True} if self._keeps_pinned else {}
            self._switch_history(context=context, stacks=stacks, max_entries=self.max_entries, **pinned)
            self._on = True
            self.torch._C._cuda_attach_out_of_memory_observer(self._out_of_memory)
            if self.at_step:
                self._count_steps()
            self._watch_signals()
            self._changed()
        except Exception as error:  # whatever it is, the program is to run
            say(f"memreplay: cannot {'see out of memory' if self._on else 'record'}: {error}")

    def _changed(self):
        if not self._on_change:
            return
        try:
            self._on_change(self)
        except OSError as error:  # a full disk; the program is to run
            if not self._untold:
                say(f"memreplay: record is not told of process {os.getpid()}: {error}")
            self._untold = True

    def _out_of_memory(self, *_):
        self.ooms += 1
        if self._on and self.ooms & (self.ooms - 1) == 0:  # the 1st, 2nd, 4th, 8th …: each holds those before
            self.write()

    def _count_steps(self):
        def step(*_):
            self.steps += 1
            if self.steps == self.at_step and self._on:
                self.write()
                self._off()

        importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(step)

    def _off(self):
        self._on = False
        self._switch_history(enabled=None)

    def _watch_signals(self):
        """SIGTERM and SIGHUP write before they end the program; SIGUSR1 writes, and the program goes on."""
        if threading.current_thread() is not threading.main_thread():
            return

        def end(number, _):
            self.finish()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        for number, handler in ((signal.SIGTERM, end), (signal.SIGHUP, end), (signal.SIGUSR1, self.write)):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, handler)

    def write(self, *_):
        """The snapshot as a file that is complete whenever it is there."""
        if os.getpid() == self.process:
            with signals_wait():
                self._write()

    def _write(self):
        path = self.path
        try:
            snapshot = self.torch.cuda.memory._snapshot()
            self._mark_settings(snapshot)
            pinned = snapshot.get("host_traces", ())
            self.pinned = len(pinned)
            if self._first_pinned and pinned and not pinned[0].get("frames"):
                for entry in pinned[:2]:
                    entry["frames"] = self._first_pinned
            if self._normalise:
                self._normalise(snapshot)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), prefix=".memreplay", delete=False) as file:
                try:
                    pickle.dump(snapshot, file)
                    file.close()
                    os.replace(file.name, path)
                except BaseException:
                    os.unlink(file.name)
                    raise
            self.written, self.write_error = True, None
            self._changed()
        except Exception as error:
            self.write_error = f"cannot write the snapshot: {error}"
            say(f"memreplay: {path}: {self.write_error}")

    def finish(self, at_exit=False):
        """At the end of the program, however it ends."""
        with signals_wait():
            if not self._finished and os.getpid() == (self.process or os.getpid()):
                self._finish(at_exit)

    def _finish(self, at_exit):
        self._finished = True
        if self._on:
            if at_exit:
                _let_go_of_the_main_module(self._main_holders)
            self.write()
        self._changed()
        if self._on_finish:
            self._on_finish(self)


def _frames(frame):
    """The stack from this frame on, as PyTorch writes it."""
    frames = []
    while frame:
        frames.append({"name": frame.f_code.co_name, "filename": frame.f_code.co_filename, "line": frame.f_lineno})
        frame = frame.f_back
    return frames


def _holders_of_the_main_module():
    main = sys.modules.get("__main__")
    return sys.getrefcount(main) if main else 0


def _let_go_of_the_main_module(holders):
    """What its names alone hold is freed, as it is when a module ends. Where functions still look names up there,
    or more hold the module than did when torch was imported, nothing is."""
    gc.disable()  # a program that ends collects nothing more
    if _holders_of_the_main_module() > holders:
        return
    main = sys.modules.pop("__main__", None)
    names = getattr(main, "__dict__", {})
    del main
    if not any(isinstance(holder, types.FunctionType) for holder in gc.get_referrers(names)):
        names.clear()


class AroundImport(importlib.abc.MetaPathFinder):
    """Calls `before` with the folder of a package when it is first imported, and `then` with the package; `failed` with
    what was in the way."""

    def __init__(self, name, before, then, failed=lambda error: None):
        self._name, self._before, self._then, self._failed = name, before, then, failed
        self._looking = threading.local()

    def find_spec(self, name, path=None, target=None):
        if name != self._name or getattr(self._looking, "now", False):
            return None
        self._looking.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking.now = False
        if spec is None:
            self._failed(f"No module named '{name}'")
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            with contextlib.suppress(ValueError):
                sys.meta_path.remove(self)
            if self._before:
                self._before(os.path.dirname(spec.origin))
            try:
                execute(module)
            except Exception as error:
                self._failed(error)
                raise
            self._then(module)

        spec.loader.exec_module = exec_module
        return spec
