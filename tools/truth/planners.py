"""`plan` beside the planners of compilers, graph by graph: what theirs made of the buffers, the bound, what ours makes of them.

FOLDER holds theirs.tsv and a list of lifetimes for each of its rows (id,lower,upper,size[,gaps]), as the planner itself told them.
"""
import csv
import json
import math
import subprocess
import time

# Each would make a planner look better or worse than it is.
TRAPS = ("graph inputs that live to the end", "views that share an offset while both live, which are one buffer",
         "loops, whose values leave gaps in their places", "scratch memory that no operator lists")


def planned(program, path):
    """Ours: the answer of `plan`, and how long the whole command took."""
    began = time.perf_counter()
    told = subprocess.run([program, "plan", path, "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(told), time.perf_counter() - began


def parts(row):
    """The times in which a buffer is in use: its life without its gaps."""
    start = int(row["lower"])
    for gap in (row.get("gaps") or "").split():
        end, behind = map(int, gap.split("@")[0].split("-"))
        if start < end:
            yield start, end
        start = behind
    if start < int(row["upper"]):
        yield start, int(row["upper"])


def solved(path, seconds):
    """OR-tools' CP-SAT on the same: its height, whether it proved it, and how long it took."""
    from ortools.sat.python import cp_model
    rows = list(csv.DictReader(path.open()))
    unit = math.gcd(*(int(row["size"]) for row in rows))
    model, most = cp_model.CpModel(), sum(int(row["size"]) for row in rows) // unit
    height, times, places = model.new_int_var(0, most, ""), [], []
    for row in rows:
        size = int(row["size"]) // unit
        offset = model.new_int_var(0, most - size, "")
        model.add(height >= offset + size)
        for start, end in parts(row):
            times.append(model.new_fixed_size_interval_var(start, end - start, ""))
            places.append(model.new_fixed_size_interval_var(offset, size, ""))
    model.add_no_overlap_2d(times, places)
    model.minimize(height)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, False, solver.wall_time
    return int(solver.objective_value) * unit, status == cp_model.OPTIMAL, solver.wall_time


def above(size, bound):
    return f"{size:,}" + ("" if size <= bound else f" (+{100 * (size - bound) / bound:.1f} %)")


def planners(options):
    rows = list(csv.DictReader((options.folder / "theirs.tsv").open(), delimiter="\t"))
    rows = [row for row in rows if not options.only or any(part in row["file"] for part in options.only)]
    columns = ["planner", "graph", "buffers", "its bytes", "bound", "plan", "seconds"] + ["CP-SAT", "its seconds"] * bool(options.cp_sat)
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    reached, spent, worst = 0, 0.0, {}
    for row in rows:
        path, bound, theirs = options.folder / f"{row['file']}.csv", int(row["bound_bytes"]), int(row["theirs_bytes"])
        answer, seconds = planned(options.program, path)
        reached += answer["optimal"] and answer["height_bytes"] == bound
        spent += seconds
        worst[row["planner"]] = max(worst.get(row["planner"], (0, "")), (100 * (theirs - bound) / bound, row["graph"]))
        cells = [row["version"], row["graph"], row["buffers"], above(theirs, bound), f"{bound:,}",
                 above(answer["height_bytes"], bound) + ("" if answer["optimal"] else ", not proved"), f"{seconds:.2f}"]
        if options.cp_sat:
            height, proved, took = solved(path, options.cp_sat)
            cells += ["-" if height is None else above(height, bound) + ("" if proved else ", not proved"), f"{took:.2f}"]
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n`plan` reaches the bound, proved, in {reached} of {len(rows)} graphs, {spent:.1f} s in all. Above the bound at most: "
          + ", ".join(f"{name} {percent:.1f} % ({graph})" for name, (percent, graph) in worst.items()) + ".")
    print("What would fake a win, and is taken into account: " + "; ".join(TRAPS) + ".")
