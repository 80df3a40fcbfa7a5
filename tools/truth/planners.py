"""`plan` beside the planners of compilers, graph by graph: what theirs made of the buffers, the bound, what ours makes of them.

FOLDER holds theirs.tsv and a list of lifetimes for each of its rows (id,lower,upper,size[,gaps]), as the planner itself told them.
Without theirs.tsv it holds problems, NAME.CAPACITY.csv each (id,lower,upper,size): which solver places one within its capacity, and in what time?
"""
import csv
import json
import math
import pathlib
import resource
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


def solved(path, seconds, capacity=None):
    """OR-tools' CP-SAT on the same: its height, whether it proved it, and how long it took. With a capacity any height below is as good."""
    from ortools.sat.python import cp_model
    rows = list(csv.DictReader(path.open()))
    unit = math.gcd(*(int(row["size"]) for row in rows))
    model, most = cp_model.CpModel(), (capacity or sum(int(row["size"]) for row in rows)) // unit
    height, times, places = model.new_int_var(0, most, ""), [], []
    for row in rows:
        size = int(row["size"]) // unit
        offset = model.new_int_var(0, most - size, "")
        model.add(height >= offset + size)
        for start, end in parts(row):
            times.append(model.new_fixed_size_interval_var(start, end - start, ""))
            places.append(model.new_fixed_size_interval_var(offset, size, ""))
    model.add_no_overlap_2d(times, places)
    if capacity is None:
        model.minimize(height)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, False, solver.wall_time
    return solver.value(height) * unit, status == cp_model.OPTIMAL, solver.wall_time


def above(size, bound):
    return f"{size:,}" + ("" if size <= bound else f" (+{100 * (size - bound) / bound:.1f} %)")


def fits(path, placed, capacity):
    """Whether a list with offsets places every buffer of a problem, within the capacity and beside each other."""
    if not placed.exists():
        return False
    boxes = [tuple(int(row[name]) for name in ("lower", "upper", "size", "offset")) for row in csv.DictReader(placed.open())]
    wanted = [tuple(int(row[name]) for name in ("lower", "upper", "size")) for row in csv.DictReader(path.open())]
    return sorted(box[:3] for box in boxes) == sorted(wanted) and all(
        0 <= at and at + size <= capacity and not any(
            lower < other[1] and other[0] < upper and at < other[3] + other[2] and other[3] < at + size for other in boxes[:i])
        for i, (lower, upper, size, at) in enumerate(boxes))


def problems(options):
    """Whether a program places a problem, and in how many seconds of the processor (others may be at work)."""
    paths = sorted(path for path in options.folder.glob("*.*.csv") if path.name.split(".")[-2].isdigit())
    columns = ["problem", "buffers", "capacity", "most live at once", "plan"] + ["MiniMalloc"] * bool(options.minimalloc) + ["CP-SAT"] * bool(options.cp_sat)
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    placed, spent = pathlib.Path(options.work, "placed.csv"), {}
    for path in paths:
        capacity, rows = int(path.name.split(".")[-2]), list(csv.DictReader(path.open()))
        commands = {"plan": [options.program, "plan", path, "--capacity", str(capacity), "--threads", "1", "--placements", placed]}
        if options.minimalloc:
            commands["MiniMalloc"] = [options.minimalloc, f"--capacity={capacity}", f"--input={path}", f"--output={placed}"]
        most = max(sum(int(row["size"]) for row in rows if int(row["lower"]) <= int(at["lower"]) < int(row["upper"])) for at in rows)
        cells = [path.name.split(".")[0], str(len(rows)), f"{capacity:,}", f"{most:,}"]
        for name, command in commands.items():
            placed.unlink(missing_ok=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            limit = int(options.timeout)
            subprocess.run(command, capture_output=True, check=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            spent[name] = spent.get(name, 0) + seconds
            cells.append(f"{seconds:.2f}" if fits(path, placed, capacity) else f"not in {seconds:.2f}")
        if options.cp_sat:
            began = time.process_time()
            height, _, _ = solved(path, options.cp_sat, capacity)
            seconds = time.process_time() - began
            spent["CP-SAT"] = spent.get("CP-SAT", 0) + seconds
            cells.append(f"{seconds:.2f}" if height else f"not in {seconds:.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)
    print("\nSeconds of the processor, on one thread; in all " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in spent.items()) + ".")


def planners(options):
    if not (options.folder / "theirs.tsv").exists():
        return problems(options)
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
