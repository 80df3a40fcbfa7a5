"""Values of pickles for tools and tests, read as the Python package reads them."""
import pathlib
import runpy

READER = pathlib.Path(__file__).resolve().parents[1] / "apps/python/memreplay/_values.py"
ValuesOnly, values_of, values_in = map(runpy.run_path(str(READER)).get, ("ValuesOnly", "values_of", "values_in"))
