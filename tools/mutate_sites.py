"""Where C++ source can be changed by one small mutation, and into what; by regular expressions."""
import dataclasses
import re

# What is no code: comments, raw strings, strings, characters (not the separator of a number).
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
SWAPS = [("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("+", "-"), ("-", "+"),
         ("*", "/"), ("/", "*"), ("%", "/"), ("&&", "||"), ("||", "&&"), ("+=", "-="), ("-=", "+="), ("<<", ">>"),
         (">>", "<<"), ("&", "|"), ("|", "&"), ("|=", "&="), ("&=", "|=")]
# clang-format puts blanks around operators, and none around the brackets of templates.
RULES = [(re.compile(rf"(?<= ){re.escape(old)}(?= )"), new) for old, new in SWAPS] + [
    (re.compile(r"\+\+"), "--"),
    (re.compile(r"\bstd::min\b(?=[(<])"), "std::max"),
    (re.compile(r"\bstd::max\b(?=[(<])"), "std::min"),
    (re.compile(r"\btrue\b"), "false"),
    (re.compile(r"\bfalse\b"), "true"),
    (re.compile(r"(?<=[( ])!(?=[\w(])"), ""),
    (re.compile(r"(?<![\w.'])\d[\d']*(?![\w.'])"), lambda m: str(int(m[0].replace("'", "")) + 1)),
    (re.compile(r"(?<=\breturn )(?!true;|false;|\{\};|std::nullopt;|nullptr;)[^;{}\n]+(?=;)"), "{}"),
]
CONDITION = re.compile(r"\b(?:if|while) \(")
# A call, an assignment or a jump that is the whole of its line.
STATEMENT = re.compile(r"[ \t]+(?:(?:\+\+|--)?[a-z_*(][\w.:()*\[\]]*(?:->[\w.:()*\[\]]*)*"
                       r"(?:\(.*\)| [-+|&*/]?= .*|\+\+)|continue|break);$")
# Assertions and what only saves time have no effect that a test could see.
NOT_MUTATED = re.compile(r"^\s*(?:#|template\b|using\b|namespace\b|static_assert\b|assert\(|friend\b)|"
                         r"operator[<>=!+-]|= default;|\.(?:reserve|shrink_to_fit)\(|__builtin_prefetch")


@dataclasses.dataclass(frozen=True)
class Mutation:
    path: str
    line: int
    start: int  # in the text of the file
    old: str
    new: str
    source: str  # the line as it stands

    def applied(self, text):
        return text[:self.start] + self.new + text[self.start + len(self.old):]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.old.strip()} -> {self.new or 'nothing'}   in   {self.source}"


def code_of(text):
    """The text with blanks for all that is no code, every character at its place."""
    return NO_CODE.sub(lambda m: re.sub(r"[^\n]", "\0", m[0]), text)


def closing(code, start):
    """Where the bracket closes that opens just before `start`; None: not on this line."""
    depth = 1
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return None


def changes_of_line(code, text, previous):
    """Start, end and new text of each change of a line, whose code is `code`."""
    for pattern, new in RULES:
        for match in pattern.finditer(code):
            yield *match.span(), new(match) if callable(new) else new
    for match in CONDITION.finditer(code):
        end = closing(code, match.end())
        if end and ";" not in code[match.end():end]:
            yield match.end(), end, f"!({text[match.end():end]})"
    if STATEMENT.match(code) and previous.endswith((";", "{", "}", ":", ")", "else")):
        yield len(code) - len(code.lstrip()), len(code), ";"


def mutations(path, text):
    """Every mutation of one file, in order."""
    found, line_start, previous = [], 0, ""
    for number, (code, line) in enumerate(zip(code_of(text).split("\n"), text.split("\n")), 1):
        code = code.rstrip("\0 ")
        if not NOT_MUTATED.search(code):
            for start, end, new in changes_of_line(code, line, previous):
                found.append(Mutation(path, number, line_start + start, line[start:end], new, line.strip()))
        previous = code or previous
        line_start += len(line) + 1
    return sorted(found, key=lambda m: (m.start, m.old, m.new))
