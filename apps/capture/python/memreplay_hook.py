"""Imported by Python before a recorded program starts: by python.cpp, else by sitecustomize.py."""
import importlib.machinery
import importlib.util
import json
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _the_users_own():
    """The sitecustomize that ours stands in front of, if there is one."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec:
        sys.modules["sitecustomize"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def _record(asked):
    import memreplay_recorder
    import memreplay_virtual_gpu

    def place(ending):
        return os.path.join(asked["folder"], f"{os.getpid()}{ending}")

    def load(torch_folder):
        try:
            gpu.load(torch_folder)
        except (OSError, memreplay_virtual_gpu.Unusable) as error:
            memreplay_recorder.say(str(error))
            os._exit(2)

    def tell(recorder):
        if recorder.torch is None and recorder.torch_error is None:
            return
        version = "" if recorder.torch is None else str(recorder.torch.__version__)
        facts = {"pid": os.getpid(), "torch": version, "ooms": recorder.ooms,
                 "used_cuda": int(recorder.process is not None), "steps": recorder.steps, "pinned": recorder.pinned,
                 "own_switches": recorder.own_switches}
        if recorder.torch_error is not None:
            facts["torch_error"] = recorder.torch_error
        if recorder.write_error is not None:
            facts["write_error"] = recorder.write_error
        if memreplay_recorder.launched_rank() is not None:
            facts["rank"] = memreplay_recorder.launched_rank()
        if gpu and recorder.process is not None:
            facts["virtual"] = gpu.facts()
        with open(place(".told"), "w", encoding="utf-8") as file:
            json.dump(facts, file)
        os.replace(file.name, place(".json"))  # complete whenever it is there

    gpu = memreplay_virtual_gpu.VirtualGpu(asked["program"]) if asked["virtual"] else None
    recorder = memreplay_recorder.Recorder(
        lambda: place(".pickle"), stacks=asked["stacks"], max_entries=asked["max_entries"] or sys.maxsize,
        at_step=asked["at_step"], before_import=gpu and load, on_begin=gpu and gpu.begin,
        normalise=gpu and (lambda snapshot: gpu.normalise(snapshot, asked["real_times"])), on_change=tell,
        on_finish=gpu and gpu.forget_reads)
    if gpu:
        gpu.on_pinned = recorder.begin_if_pinned_is_kept
    recorder.watch_for_torch()


if "MEMREPLAY_RECORD" in os.environ:
    _record(json.loads(os.environ["MEMREPLAY_RECORD"]))
_the_users_own()
