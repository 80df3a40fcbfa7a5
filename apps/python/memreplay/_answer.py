"""Answers: the JSON of the command line as an object, with its texts, tables and pictures."""
import json

from . import _html
from ._tables import OWN, Tables, other_table, own_table


class Record(dict):
    """An object of the JSON, whose keys are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Answer:
    """What a question came to: the JSON of the command line, whose keys are items and attributes.

    No collections.abc.Mapping: libraries of tables would take it for columns.

    Sizes are whole numbers of bytes, times say their unit in their name, an unknown is None.
    exit_code: 0 done, 1 the answer is no, 2 there was nothing to do
    notes: what the command line says on standard error
    """

    def __init__(self, question, ran=None):
        ran = ran or question.ask()
        self._question, self._ran = question, ran
        self.command, self.exit_code, self.notes = question.command, ran.status, list(ran.notes)
        self.json_text = ran.json
        self._json = json.loads(ran.json, object_hook=Record)
        self.tables = Tables(self)

    def __reduce__(self):
        """An answer about files travels between processes; tables of other questions are asked where it arrives."""
        return Answer, (self._question, self._ran)

    def json(self):
        """The answer as plain dicts and lists, a copy of one's own."""
        return json.loads(self.json_text)

    def text(self):
        """What the terminal shows, without colours."""
        return self._ran.text

    def markdown(self):
        """The answer for an issue or a pull request; its text where there is nothing to lay in a table."""
        return self._ran.markdown or self.text()

    def __getitem__(self, key):
        return self._json[key]

    def __iter__(self):
        return iter(self._json)

    def __contains__(self, key):
        return key in self._json

    def keys(self):
        """The keys of the JSON."""
        return self._json.keys()

    def get(self, key, default=None):
        """The value of a key, or something else where the answer has none."""
        return self._json.get(key, default)

    def __getattr__(self, name):
        if not name.startswith("_") and name in self._json:
            return self._json[name]
        raise AttributeError(f"the answer of {self.command} has no '{name}'; it has {', '.join(self._json)}")

    def __str__(self):
        return self.text()

    def __repr__(self):
        return f"<memreplay.{self.command}: {self.sentence_of()}>"

    def sentence_of(self):
        """The verdict: what the answer says first, of a comparison last, of a replay of each run."""
        if "sentence" in self._json:
            return self._json["sentence"]
        if self.command == "replay":
            return " ".join(_titles(self.text()))
        paragraphs = [" ".join(part.split()) for part in self.text().split("\n\n") if part.strip()]
        return paragraphs[-1 if self.command in ("compare", "check") else 0] if paragraphs else ""

    @property
    def own_table(self):
        """The name of the table that the answer itself has, or None."""
        return None if self._ran.table is None else OWN.get(self.command, "runs")

    def table(self, name=None, run=0):
        """A table of the answer by name (see `tables`), of the run of that number where it is of one.

        runs, stacks, metrics, findings: the answer's own
        events: every event: address and size as charged, bytes allocated and reserved after it
        blocks: what lived where, from which event to which
        segments: what was held from the device at the end
        curves: requested, allocated and reserved bytes after every event, time in microseconds
        device_events: every call to the device
        stacks: what is live, by place
        """
        name = name or self.own_table or "runs"
        if name == self.own_table:
            return own_table(self.command, self._ran)
        if name not in list(self.tables):
            raise KeyError(f"{name}; expected one of {', '.join(self.tables)}")
        trace, keywords = self._subject(run)
        return other_table(name, self._question, trace, keywords)

    def to_pandas(self, table=None, run=0):
        """A table as pandas.DataFrame (needs pandas)."""
        return self.table(table, run).to_pandas()

    def __arrow_c_stream__(self, requested_schema=None):
        """The answer's own table as Arrow C stream: polars.DataFrame(answer), pyarrow.table(answer)."""
        return self.table().__arrow_c_stream__(requested_schema)

    def _subject(self, run):
        """The recording of a run, and the strategy and device that another question is to name."""
        names = self._question.names
        if self.command == "ranks":
            return self._rank(run)
        results = self._json.get("results", [self._json])
        runs = [(result, one) for result in results for one in result.get("runs") or [] if "strategy" in one]
        if not runs:
            strategies = self._question.keywords.get("strategies") or self._question.keywords.get("strategy")
            keywords = {"strategy": strategies} if isinstance(strategies, str) else {}
            trace = results[0].get("trace") or {}
            return self._known(trace, names), {**keywords, **_gpu(trace)}
        result, chosen = runs[run]
        if "largest_value" in chosen:
            return None, self._largest(chosen)
        trace = result.get("trace") or {}
        return self._known(trace, names), {**_strategy(result, chosen), **_gpu(trace)}

    def _rank(self, run):
        """The trace and setup of a row of the answer's own table, the worst rank first."""
        if "ranks" not in self._json:
            raise KeyError("a shard has no tables; expected the answer of all, ranks(*shards, merge=True)")
        rank, chosen = [(rank, one) for rank in self._json["ranks"] for one in rank["runs"]][run]
        return rank["path"], {"strategy": chosen["strategy"], **_gpu(rank)}

    def _largest(self, chosen):
        """The largest value that fits, on that device."""
        if chosen["largest_value"] is None:
            raise KeyError(f"no {self._json['parameter']} that fits was found, and only that has tables")
        return {"at": {self._json["parameter"]: chosen["largest_value"]}, "strategy": chosen["strategy"],
                "capacity": chosen["device"]["capacity_bytes"], "reserve": self._json["held_by_others_bytes"]}

    @staticmethod
    def _known(trace, names):
        return trace["path"] if trace.get("path") in names or not names else names[0]

    def _repr_html_(self):
        return _html.page_of(self)


def _titles(text):
    """What a replay says of each run, above its figures."""
    for part in text.split("\n\n"):
        title, figures, _ = part.partition("\n   MaxInUse")
        if figures:
            yield " ".join(title.split()) + "."


def _strategy(result, run):
    """The keywords that replay a run again: of tune its setting, by the rules that tune went by."""
    if "settings" not in run:
        return {"strategy": run["strategy"]}
    return {"alloc_conf": run["settings"][0], "torch_version": result["torch_version"]}


def _gpu(trace):
    return {} if trace.get("gpu") is None or trace["gpu"] < 0 else {"gpu": trace["gpu"]}


class Report:
    """A page of pictures in one file that opens anywhere."""

    def __init__(self, html):
        self.html = html

    def save(self, path):
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        return _html.framed(self.html)

    def __repr__(self):
        return f"<memreplay.Report: a page of {len(self.html) >> 10} KiB; save(path) writes it>"
