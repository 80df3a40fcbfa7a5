"""Tables between the markers of a page: <!-- figures: NAME --> and <!-- end -->."""
import re

BLOCK = re.compile(r"<!-- figures: ([a-z ]+) -->\n(.*?)<!-- end -->", re.DOTALL)


def tables_in(text):
    return {name: lines.strip("\n").splitlines() for name, lines in BLOCK.findall(text)}


def with_tables(text, tables):
    """The page with these tables; others stay."""
    def filled(block):
        name = block.group(1)
        if name not in tables:
            return block.group(0)
        return "\n".join([f"<!-- figures: {name} -->", "", *tables[name], "", "<!-- end -->"])

    return BLOCK.sub(filled, text)
