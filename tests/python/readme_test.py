"""What the README of the module shows is what it says."""
import doctest
import os
import sys

from support import ROOT

os.chdir(ROOT)
sys.exit(doctest.testfile(str(ROOT / "apps/python/README.md"), module_relative=False).failed > 0)
