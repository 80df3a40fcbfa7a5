"""The wheels that tools/package writes, installed into fresh environments without an index, and used.

Usage: wheel_test.py TRACE [FOLDER]. Builds them, which takes minutes, where no folder has them; is skipped where the tools
of the build cannot be had.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEWEST_GLIBC = (2, 35)
OUTSIDE = {"PATH": "/nonexistent"}
USE = """
import json, memreplay, sys
from memreplay._values import values_in
answer = memreplay.explain(values_in(sys.argv[1]))
print(json.dumps([memreplay.__version__, answer.verdict, answer.event]))
"""
REFUSED = """
import memreplay, sys
try:
    memreplay.explain(sys.argv[1])
except memreplay.Error as error:
    print(error)
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def environment(folder):
    try:
        venv.create(folder, with_pip=True)
    except (subprocess.CalledProcessError, OSError) as error:
        skip(f"no virtual environment can be made here: {error}")
    return folder / "bin"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


def newest_glibc(file):
    """The newest of the versions that the symbols of a file ask for."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", file))
    return max((int(major), int(minor)) for major, minor in versions)


def check(used, trace, module):
    """A wheel that was installed, with the module or of the program alone."""
    program = used / "memreplay"
    answer = json.loads(run(program, "explain", trace, "--json", env=OUTSIDE))
    version = run(program, "--version", env=OUTSIDE).split()[1]
    assert run(used / "python", "-m", "memreplay", "--version", env=OUTSIDE) == f"memreplay {version}\n"
    if module:
        assert json.loads(run(used / "python", "-c", USE, trace)) == [version, answer["verdict"], answer["event"]]
    else:
        assert "holds the program alone" in run(used / "python", "-c", REFUSED, trace)
    files = [program, *used.parent.glob("lib/*/site-packages/memreplay/*.so")]
    assert len(files) == 1 + module
    for file in files:
        assert newest_glibc(file) <= NEWEST_GLIBC, (file, newest_glibc(file))
        print(f"{file.name}: glibc {newest_glibc(file)}, {file.stat().st_size >> 10} KiB")


def main():
    trace = pathlib.Path(sys.argv[1])
    wheels = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/packages")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if len(sys.argv) < 3:
            index = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", name, "wheel"]
            if subprocess.run(index, check=False).returncode:
                skip("no index is reached")
            run(ROOT / "tools/package")
        chosen = environment(folder / "chosen")
        run(chosen / "pip", "install", "--no-index", "--find-links", wheels, "memreplay")
        own = f"cp{sys.version_info.major}{sys.version_info.minor}"
        check(chosen, trace, module=any(wheels.glob(f"memreplay-*-{own}-{own}-*.whl")))
        alone = environment(folder / "alone")
        run(alone / "pip", "install", "--no-index", next(wheels.glob("memreplay-*-py3-none-*.whl")))
        check(alone, trace, module=False)


if __name__ == "__main__":
    main()
