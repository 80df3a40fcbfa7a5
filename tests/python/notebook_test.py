"""The example notebook runs, and shows what it says."""
import importlib.util
import json
import pathlib
import unittest

import memreplay  # noqa: F401
from support import ROOT

NOTEBOOK = ROOT / "apps/python/examples/out_of_memory.ipynb"
NEEDED = [name for name in ("nbclient", "nbformat", "ipykernel") if not importlib.util.find_spec(name)]


class Notebook(unittest.TestCase):
    def test_it_is_kept_without_outputs(self):
        cells = json.loads(NOTEBOOK.read_text())["cells"]
        self.assertFalse(any(cell.get("outputs") or cell.get("execution_count") for cell in cells))

    @unittest.skipIf(NEEDED, f"not installed: {', '.join(NEEDED)}")
    def test_it_runs(self):
        import nbclient
        import nbformat

        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3",
                                resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
        shown = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
        for part in ("Fragmentation: the 759 MiB request", "<svg", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"):
            self.assertIn(part, shown)


if __name__ == "__main__":
    unittest.main()
