"""Tables between the markers of a page: <!-- figures: NAME --> and <!-- end -->."""
import re

BLOCK = re.compile(r"<!-- figures: ([a-z ]+) -->\n(.*?)<!-- end -->", re.DOTALL)


def tables_in(text):
    return {name: lines.strip("\n").splitlines() for name, lines in BLOCK.findall(text)}


def with_tables(text, tables):
    def filled(block):
        name = block.group(1)
        return "\n".join([f"<!-- figures: {name} -->", "", *tables[name], "", "<!-- end -->"])

    return BLOCK.sub(filled, text)
