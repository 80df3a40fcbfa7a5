"""Wall time and peak memory of whole processes."""
import os
import subprocess
import time


def measured(command, repeat=3, **process_options):
    """The shortest wall time in seconds and the largest resident size in MiB of some runs, and what was printed."""
    seconds, peak_mib, output = float("inf"), 0.0, ""
    for _ in range(repeat):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **process_options)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = min(seconds, time.perf_counter() - start)
        process.stdout.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{command[0]} ended with status {process.returncode}")
        peak_mib = max(peak_mib, usage.ru_maxrss / 1024)
    return seconds, peak_mib, output
