"""As long as `replay` does not say that places are open, the model of the driver's order gives each block its recorded place.

Usage: places_test.py PROGRAM
"""
import bisect
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "corpus"
BUNDLED = ("pools_unnamed.pickle", "side_streams.pickle", "ties_by_address.pickle", "training_8.pickle.gz")


def rows_of(path, delimiter=","):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def replayed(program, recording, *strategy):
    """The run, and by event in which region, counted as they were obtained, each block lies, and where in it."""
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{name}.csv" for name in ("placements", "calls")]
        done = subprocess.run([program, "replay", recording, *strategy, "--json", "--placements", files[0], "--device-events", files[1]],
                              capture_output=True, text=True, check=True)
        placements, calls = map(rows_of, files)
    regions, begins, made, places = {}, [], 0, {}
    for row in placements:
        while calls and int(calls[0]["event"]) <= int(row["event"]):
            call = calls.pop(0)
            address = int(call["address"])
            if call["op"] == "segment_alloc":
                made += 1
                regions[address] = made, int(call["bytes"])
                bisect.insort(begins, address)
            elif regions.pop(address, None):
                begins.remove(address)
        if row["op"] != "a" or not row["address"]:
            continue
        address = int(row["address"])
        at = bisect.bisect_right(begins, address) - 1
        number, size = regions[begins[at]] if at >= 0 else (0, 0)
        inside = at >= 0 and address < begins[at] + size
        places[int(row["event"])] = (number, address - begins[at]) if inside else (0, address)
    return json.loads(done.stdout)["runs"][0], places


def main():
    program = sys.argv[1]
    recordings = [ROOT / "traces" / "torch" / name for name in BUNDLED]
    shared = [SHARED / folder / f"{row['file']}.pickle.gz" for folder in ("driver", "driver-late") if (SHARED / folder).exists()
              for row in rows_of(SHARED / folder / "index.tsv", "\t") if row["addresses"] == "high" and row["device allocations"] != "0"]
    if not shared:
        print("only bundled recordings: no ../shared")
    failures, opened = [], 0
    for recording in recordings + shared:
        recorded, truth = replayed(program, recording)
        if not recorded["as_recorded"]:
            continue
        run, places = replayed(program, recording, "-s", "torch", "--address-policy", "cuda-linux")
        open_from = run.get("places_open_from", 1 << 62)
        opened += open_from < 1 << 62
        wrong = [event for event, place in truth.items() if event < open_from and places.get(event) != place]
        if run["exact"] and wrong:
            failures.append(f"{recording}: the block of event {wrong[0]} lies elsewhere, but places are open from {open_from} on")
    if opened == 0:
        failures.append("no recording has open places")
    print("\n".join(failures) or f"{len(recordings + shared)} recordings, places open in {opened}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
