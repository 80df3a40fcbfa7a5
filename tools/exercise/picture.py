"""Pictures of the exercise, as SVG."""
import html

MIB = 1 << 20
WIDTH = 860
INK, PALE, GRID = "#222", "#777", "#ddd"
COLOURS = ("#222", "#0072b2", "#d55e00", "#009e73")


def text(x, y, words, more=""):
    return f'<text x="{x}" y="{y}"{more}>{html.escape(words)}</text>'


def line(x1, y1, x2, y2, colour=GRID, width=1):
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}" stroke-width="{width}"/>'


def picture(height, title, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="13" fill="{INK}" role="img">',
        f"<title>{html.escape(title)}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def thinned(values, columns):
    """At most two a column, its least and its greatest in their order, as (place, value)."""
    kept = []
    for column in range(columns):
        places = range(column * len(values) // columns, (column + 1) * len(values) // columns)
        if places:
            extremes = {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
            kept += [(place, values[place]) for place in sorted(extremes)]
    return kept


def of_curves(curves):
    """Requested bytes over the requests and frees of a step, a line for each way."""
    left, top, bottom, height = 78, 26, 356, 400
    right = WIDTH - 16
    longest = max(len(curve.requested) for curve in curves)
    highest = 1024 * MIB

    def x(place):
        return round(left + place * (right - left) / longest, 1)

    def y(size):
        return round(bottom - size * (bottom - top) / highest, 1)

    parts = []
    for size in range(0, 1025, 256):
        parts += [line(left, y(size * MIB), right, y(size * MIB)),
                  text(left - 8, y(size * MIB) + 4, f"{size} MiB" if size else "0", ' text-anchor="end"')]
    for place in range(0, longest, 250):
        parts.append(text(x(place), bottom + 18, f"{place:,}", ' text-anchor="middle"'))
    parts.append(text(right, bottom + 36, "requests and frees of the second step", ' text-anchor="end"'))
    key_left = right - 340
    parts.append(text(key_left, top + 14, "Checkpointed:", f' fill="{PALE}"'))
    for row, (curve, colour) in enumerate(zip(curves, COLOURS)):
        path = " ".join(f"{x(place)} {y(size)}" for place, size in thinned(curve.requested, (right - left) // 3))
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.4" stroke-linejoin="round"/>')
        parts.append(f'<circle cx="{x(curve.backward)}" cy="{y(curve.requested[curve.backward])}" r="4" fill="#fff" '
                     f'stroke="{colour}" stroke-width="2"/>')
        key = top + 34 + row * 20
        parts += [line(key_left, key - 4, key_left + 26, key - 4, colour, 3),
                  text(key_left + 34, key, f"{curve.way.name}: {max(curve.requested) / MIB:.0f} MiB at most")]
    parts.append(text(key_left + 8, top + 34 + len(curves) * 20, "○   the backward pass begins", f' fill="{PALE}"'))
    return picture(height, "Requested memory over one training step, by what is checkpointed", parts)


def of_peaks(outcomes):
    """The two peaks and the price of each way, as bars."""
    row_height, top = 34, 50
    height = top + len(outcomes) * row_height + 8
    left, right = 226, 570
    again_left, again_right = 600, WIDTH - 84

    def x(size):
        return round(left + size * (right - left) / (1024 * MIB), 1)

    most = max(outcome.again_bytes for outcome in outcomes)
    parts = [text(left, 20, "peak requested", ' font-weight="bold" fill="#0072b2"'),
             text(left + 124, 20, "and reserved, with its interval", ' font-weight="bold"'),
             text(again_left, 20, "asked for again in the two steps", ' font-weight="bold" fill="#d55e00"')]
    for size in range(0, 1025, 256):
        parts += [line(x(size * MIB), 42, x(size * MIB), height - 8),
                  text(x(size * MIB), 37, f"{size} MiB" if size else "0", f' text-anchor="middle" font-size="11" fill="{PALE}"')]
    for row, outcome in enumerate(outcomes):
        y = top + row * row_height
        low, high = (x(size) for size in outcome.reserved_within)
        again = round(outcome.again_bytes * (again_right - again_left) / most, 1)
        parts += [text(left - 10, y + 17, outcome.way.name, ' text-anchor="end"'),
                  f'<rect x="{left}" y="{y}" width="{round(x(outcome.reserved) - left, 1)}" height="24" fill="#cfd8dc"/>',
                  f'<rect x="{left}" y="{y + 4}" width="{round(x(outcome.requested) - left, 1)}" height="16" fill="#0072b2"/>',
                  text(left + 8, y + 17, f"{outcome.requested / MIB:.0f}", ' fill="#fff"'),
                  text(high + 6, y + 17, f"{outcome.reserved / MIB:.0f}"),
                  f'<rect x="{again_left}" y="{y + 4}" width="{again}" height="16" fill="#d55e00"/>',
                  text(again_left + again + 6, y + 17, f"{outcome.again_bytes / MIB:.0f} MiB" if outcome.again_bytes else "0")]
        if low != high:
            parts += [line(low, y + 12, high, y + 12, INK, 2), line(low, y + 7, low, y + 17, INK, 2),
                      line(high, y + 7, high, y + 17, INK, 2)]
    return picture(height, "Peak memory and its price, by what is checkpointed", parts)
