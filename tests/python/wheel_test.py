"""The wheel: built from the source distribution, installed alone into a fresh environment, and used.

Usage: wheel_test.py TRACE. Takes minutes; is skipped where the tools of the build cannot be had.
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
USE = """
import json, memreplay, pickle, sys
answer = memreplay.explain(pickle.load(open(sys.argv[1], "rb")))
print(json.dumps([memreplay.__version__, answer.verdict, answer.event]))
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


def check(built, trace, folder):
    used = environment(folder / "use")
    run(used / "pip", "install", "--no-index", built)
    program, outside = used / "memreplay", {"PATH": "/nonexistent"}
    answer = json.loads(run(program, "explain", trace, "--json", env=outside))
    version = run(program, "--version", env=outside).split()[1]
    expected = [version, answer["verdict"], answer["event"]]
    assert json.loads(run(used / "python", "-c", USE, trace)) == expected
    assert run(used / "python", "-m", "memreplay", "--version", env=outside) == f"memreplay {version}\n"
    assert f"memreplay-{version}-" in built.name
    for file in [program, *used.parent.glob("lib/*/site-packages/memreplay/*.so")]:
        assert newest_glibc(file) <= NEWEST_GLIBC, (file, newest_glibc(file))
        print(f"{file.name}: glibc {newest_glibc(file)}, {file.stat().st_size >> 10} KiB")


def main():
    trace = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tools = environment(folder / "tools")
        got = subprocess.run([tools / "pip", "install", "-q", "build", "scikit-build-core", "pybind11"], check=False)
        if got.returncode:
            skip("no index with scikit-build-core is reached")
        run(tools / "python", "-m", "build", "--sdist", "--outdir", folder / "dist", ROOT)
        source = next((folder / "dist").glob("memreplay-*.tar.gz"))
        run(tools / "pip", "wheel", "--no-deps", "-w", folder / "dist", source)
        check(next((folder / "dist").glob("memreplay-*.whl")), trace, folder)


if __name__ == "__main__":
    main()
