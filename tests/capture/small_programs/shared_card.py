"""Processes of several kinds on one card; each says what it finds there when all of those before have some of it."""
import multiprocessing
import os
import re
import subprocess
import sys
import time

import torch

GIB = 1 << 30


def hold(gibibytes):
    return torch.empty(gibibytes * GIB, dtype=torch.uint8, device="cuda")


def free():
    return torch.cuda.mem_get_info()[0] / GIB


def take_and_wait(ready):
    kept = hold(3)
    ready.set()
    time.sleep(600)
    del kept


def say_what_is_free(name):
    print(f"{name}: {free():.2f}", flush=True)


if sys.argv[1:] == ["alone"]:
    say_what_is_free("subprocess")
    sys.exit()
if __name__ == "__main__":
    forked = multiprocessing.get_context("fork").Process(target=say_what_is_free, args=("forked",))
    forked.start()
    forked.join()
    kept = hold(4)
    say_what_is_free("parent")
    subprocess.run([sys.executable, __file__, "alone"], check=True)
    spawning = multiprocessing.get_context("spawn")
    ready = spawning.Event()
    spawned = spawning.Process(target=take_and_wait, args=(ready,))
    spawned.start()
    ready.wait()
    say_what_is_free("beside spawned")
    try:
        hold(3)
    except torch.cuda.OutOfMemoryError as error:
        message = str(error).replace(f"Process {spawned.pid}", "Process SPAWNED")
        print(*re.findall(r"[^.]*of which [^,]* is free|Process SPAWNED .*?in use|this process has .*?in use", message), sep="\n")
    os.kill(spawned.pid, 9)
    spawned.join()
    hold(3)
    say_what_is_free("at the end")
