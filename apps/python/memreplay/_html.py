"""Answers in a notebook: the verdict, a table, and the timeline as a picture without a script."""
from html import escape
from itertools import groupby

WIDTH, HEIGHT, LEFT, BELOW = 720, 220, 76, 22
MOST_EVENTS = 1_000_000
MOST_ROWS = 12
MOST_PICTURES = 3
CURVES = {"reserved": "#b0b6c4", "allocated": "#3b6fb6"}
RUNS = {"strategy": "strategy", "peak_allocated_bytes": "MaxInUse", "peak_reserved_bytes": "reserved",
        "gap_bytes": "gap", "ooms": "OOM", "oom_retries": "retries"}
PLACES = {"place": "place", "live_bytes": "live", "live_blocks": "blocks", "pinned_bytes": "pinned"}
# Long names break, that the numbers stay in sight.
NAME_STYLE = "text-align:left;padding:1px 8px;overflow-wrap:anywhere;min-width:12em"
NUMBER_STYLE = "text-align:right;padding:1px 8px;white-space:nowrap"


def size(count):
    """Bytes for people: 5184 MiB."""
    for unit, bytes_ in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= 10 * bytes_ or (unit == "KiB" and count >= bytes_):
            return f"{count / bytes_:.0f} {unit}" if count >= 100 * bytes_ else f"{count / bytes_:.1f} {unit}"
    return f"{count} B"


def page_of(answer):
    """The HTML of an answer."""
    parts = [f"<p><b>{escape(answer.sentence_of())}</b></p>", _table(answer), *_timelines(answer)]
    return "<div>" + "".join(parts) + "</div>"


def framed(page):
    """A whole page inside of a notebook."""
    return f'<iframe style="width:100%;height:640px;border:0" srcdoc="{escape(page, quote=True)}"></iframe>'


def _table(answer):
    if answer.command in ("replay", "compare", "tune"):
        return _rows(RUNS.values(), _runs(answer))
    if answer.command == "explain":
        return _rows(PLACES.values(), _places(answer))
    lines = [line for line in answer.markdown().splitlines() if line.startswith("|")]
    if len(lines) < 3:
        return f"<pre>{escape(answer.text())}</pre>"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return _rows(cells[0], [row for row in cells[2:] if not row[0].startswith("---")])


def _cells(row, keys):
    def shown(key, value):
        return "-" if value is None else size(value) if key.endswith("_bytes") else str(value)

    return [shown(key, row[key]) for key in keys]


def _runs(answer):
    for result in answer.get("results", [answer]):
        rows = [_cells(run, RUNS) for run in [*filter(None, [result.get("baseline")]), *result["runs"]]]
        yield from _folded(rows) if answer.command == "tune" else rows


def _folded(rows):
    """Neighbours whose figures are the same, in one row."""
    for _, same in groupby(rows, key=lambda row: row[1:]):
        (name, *figures), *others = same
        yield [f"{name} (+{len(others)} alike)" if others else name, *figures]


def _places(answer):
    """The largest first."""
    columns = answer.table().to_dict()
    rows = [dict(zip(PLACES, row)) for row in zip(*(columns[key] for key in PLACES))]
    return [_cells(row, PLACES) for row in sorted(rows, key=lambda row: -(row["live_bytes"] or 0))]


def _rows(titles, rows):
    rows = list(rows)
    out = [_row("th", titles)] + [_row("td", row) for row in rows[:MOST_ROWS]]
    more = f"<p>and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
    return f"<table>{''.join(out)}</table>{more}"


def _row(tag, cells):
    styled = zip(cells, [NAME_STYLE] + [NUMBER_STYLE] * (len(cells) - 1))
    return "<tr>" + "".join(f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in styled) + "</tr>"


def _timelines(answer):
    """The first runs, in the order of the table and on one scale; the best one for tune."""
    first = answer.get("results", [answer])[0]
    if not 0 < ((first.get("trace") or {}).get("events") or 0) <= MOST_EVENTS:
        return
    names = [run["strategy"] for run in first.get("runs") or [] if "strategy" in run]
    names = names[:MOST_PICTURES if answer.command in ("replay", "compare") else 1] or [None]
    pictures = [(name, answer.table("curves", run)) for run, name in enumerate(names)]
    top = max((max(table[curve]) for _, table in pictures if len(table) for curve in CURVES), default=0)
    for name, table in pictures:
        if name:
            yield f"<p>{escape(name)}</p>"
        if len(table):
            yield svg(table["event"], {curve: table[curve] for curve in CURVES}, top)


def svg(events, curves, top):
    """Curves of bytes, at most top, over events. Of the events that share a column of pixels the highest is drawn."""
    top = max(1, top)
    first, last = events[0], max(events[-1], events[0] + 1)
    columns = WIDTH - LEFT - 8

    def x(column):
        return LEFT + column

    def y(value):
        return 8 + (HEIGHT - BELOW - 8) * (1 - value / top)

    lines = []
    for name, values in curves.items():
        highest = {}
        for event, value in zip(events, values):
            column = (event - first) * columns // (last - first)
            highest[column] = max(highest.get(column, 0), value)
        points, before = [f"{x(0)},{y(0):.1f}"], 0
        for column, value in highest.items():
            points += [f"{x(column)},{y(before):.1f}", f"{x(column)},{y(value):.1f}"]
            before = value
        points += [f"{x(columns)},{y(before):.1f}", f"{x(columns)},{y(0):.1f}"]
        lines.append(f'<polygon points="{" ".join(points)}" fill="{CURVES[name]}" fill-opacity="0.7">'
                     f"<title>{name}: {size(max(values))} at most</title></polygon>")
    text = 'font-family="sans-serif" font-size="11" fill="#666"'
    labels = [f'<text x="{LEFT - 6}" y="{y(value) + 4:.0f}" text-anchor="end" {text}>{size(value)}</text>'
              f'<line x1="{LEFT}" x2="{x(columns)}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ccc"/>'
              for value in (0, top // 2, top)]
    labels.append(f'<text x="{LEFT}" y="{HEIGHT - 6}" {text}>event {first:,}</text>')
    labels.append(f'<text x="{x(columns)}" y="{HEIGHT - 6}" text-anchor="end" {text}>{last:,}</text>')
    labels += [f'<rect x="{LEFT + 130 + 110 * i}" y="{HEIGHT - 15}" width="10" height="10" fill="{colour}"/>'
               f'<text x="{LEFT + 145 + 110 * i}" y="{HEIGHT - 6}" {text}>{name}</text>'
               for i, (name, colour) in enumerate(CURVES.items())]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" role="img">{"".join(labels[:3])}{"".join(lines)}{"".join(labels[3:])}</svg>')
