"""Tables of an answer: typed columns that polars, pyarrow, pandas and DuckDB take as they are."""
from collections.abc import Mapping

from . import _memreplay

# Table: the command that has it, and the file that it is there (none: the answer's own table).
SOURCES = {
    "runs": ("replay", None),
    "stacks": ("explain", None),
    "events": ("replay", "placements"),
    "blocks": ("replay", "placements"),
    "segments": ("replay", "segments"),
    "curves": ("replay", "timeline"),
    "device_events": ("replay", "device_events"),
}
# What an answer's own table is called, where it has not one row for each run.
OWN = {"explain": "stacks", "diff": "stacks", "check": "metrics", "lint": "findings", "convert": "rows"}


class Table:
    """Columns of whole numbers, numbers or texts, some of them missing. Bytes and events are whole numbers."""

    def __init__(self, columns):
        self._columns = columns

    @property
    def columns(self):
        """The names of the columns."""
        return self._columns.names

    def __len__(self):
        return self._columns.rows

    def __getitem__(self, name):
        """A column as a list; None is a missing value."""
        if name not in self.columns:
            raise KeyError(name)
        return self._columns.values(self.columns.index(name))

    def to_dict(self):
        """All columns as lists, by name."""
        return {name: self[name] for name in self.columns}

    def to_pandas(self):
        """A pandas.DataFrame, whose missing values are pandas.NA."""
        import pandas

        kinds = {int: "Int64", float: "Float64", str: "string"}
        kind = {name: kinds[self._columns.kind(i)] for i, name in enumerate(self.columns)}
        return pandas.DataFrame({name: pandas.array(self[name], dtype=kind[name]) for name in self.columns})

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow C stream: polars.DataFrame(table), pyarrow.table(table)."""
        return self._columns.arrow_stream()

    def __repr__(self):
        return f"<memreplay.Table: {len(self)} rows of {', '.join(self.columns)}>"


class Tables(Mapping):
    """The tables of an answer by name, each computed when it is looked at, of the answer's first run."""

    def __init__(self, answer):
        self._answer = answer

    def __getitem__(self, name):
        return self._answer.table(name)

    def __iter__(self):
        own = self._answer.own_table
        yield from ([own] if own else [])
        predicts = self._answer._question.predicts()
        yield from (name for name in SOURCES if name != own and not (predicts and SOURCES[name][0] == "explain"))

    def __len__(self):
        return sum(1 for _ in self)


def own_table(command, ran):
    """The table of the answer itself, or None."""
    return None if ran.table is None else Table(_memreplay.TypedTable(ran.table))


def other_table(name, question, trace, keywords):
    """A table that takes another question: keywords say of which strategy and device."""
    command, file = SOURCES[name]
    if file is None:
        return own_table(command, question.about(command, trace, **keywords).ask())
    columns = _memreplay.TypedTable(question.about("replay", trace, **keywords, **{file: "-"}).ask().output)
    return Table(columns.blocks() if name == "blocks" else columns)
