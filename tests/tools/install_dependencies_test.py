"""install_dependencies asks for what is missing and for nothing else."""
import os
import pathlib
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "install_dependencies"


def install(installed, *arguments):
    """Runs the tool on a machine with these packages; its status, and what it had apt-get do."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log")
        log.touch()
        programs = {
            "dpkg-query": "".join(f"echo '{package} installed'\n" for package in installed),
            "apt-get": f'echo "$@" >> {log}\n',
            "sudo": '[ "$1" = -n ] && shift\nexec "$@"\n',
        }
        for name, body in programs.items():
            program = pathlib.Path(folder, name)
            program.write_text("#!/bin/sh\n" + body)
            program.chmod(0o755)
        run = subprocess.run([TOOL, *arguments], env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return run.returncode, log.read_text().splitlines()


EVERYTHING = """g++ cmake ninja-build libcli11-dev nlohmann-json3-dev libfmt-dev libzstd-dev zlib1g-dev libsqlite3-dev
                libjs-dygraphs libgtest-dev pybind11-dev python3 python3-dev valgrind""".split()


class InstallDependencies(unittest.TestCase):
    def test_nothing_is_done_when_nothing_is_missing(self):
        self.assertEqual(install(EVERYTHING), (0, []))

    def test_only_what_is_missing_is_installed(self):
        status, commands = install([package for package in EVERYTHING if package not in ("cmake", "libfmt-dev")])
        self.assertEqual((status, commands),
                         (0, ["-qq update", "-qq install --yes --no-install-recommends cmake libfmt-dev"]))

    def test_the_browser_is_asked_for_apart(self):
        status, commands = install(["chromium"], "--browser")
        self.assertEqual((status, commands),
                         (0, ["-qq update", "-qq install --yes --no-install-recommends chromium-driver python3-selenium"]))


if __name__ == "__main__":
    unittest.main()
