"""The wheels of a release: one with the module for each CPython whose headers are there, one of the program alone.

All hold the same program and go on an index as one project: pip takes the one for its Python, else that of the program.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "apps" / "python" / "memreplay"
RECORDER = ROOT / "apps" / "capture" / "python"
PLATFORM = f"manylinux_2_35_{platform.machine()}"
DESCRIBE = "import sys; from scikit_build_core.build import prepare_metadata_for_build_wheel as p; print(p(sys.argv[1]))"


def run(*command, **how):
    done = subprocess.run([str(word) for word in command], check=False, text=True, stdout=subprocess.PIPE, **how)
    if done.returncode:
        raise SystemExit(f"package: {' '.join(map(str, command))} failed\n{done.stdout}")
    return done.stdout


def install_tools(folder=ROOT / "build" / "package_tools", wanted=ROOT / "tools" / "packaging" / "requirements.txt"):
    """A virtual environment with these requirements, made where it is not there. Returns its interpreter."""
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists() or complete.read_bytes() != wanted.read_bytes():
        run(sys.executable, "-m", "venv", "--clear", folder)
        run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", wanted)
        shutil.copy(wanted, complete)
    return python


def settings(python, headers):
    """What the build of the modules is told."""
    folder = run(python, "-m", "pybind11", "--cmakedir").strip()
    return [f"-DMEMREPLAY_PYTHON_HEADERS={';'.join(map(str, headers))}", f"-Dpybind11_DIR={folder}"]


def lay_out(wheel, information, files, module):
    """The files of a wheel: of the program where `module` is None, else of that module too."""
    package, data = wheel / "memreplay", wheel / information.name.replace(".dist-info", ".data")
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(RECORDER / "memreplay_recorder.py", package / "_recorder.py")
    shutil.copy(RECORDER / "memreplay_virtual_gpu.py", package / "_virtual_gpu.py")
    (data / "scripts").mkdir(parents=True)
    shutil.copy(files / "program", data / "scripts" / "memreplay")
    described = wheel / information.name
    shutil.copytree(information, described)
    shutil.copy(files / "copyright", described / "licenses" / "LICENSE")
    (described / "sboms").mkdir()
    shutil.copy(files / "spdx.json", described / "sboms" / "memreplay.spdx.json")
    tag = "py3-none"
    if module:
        run("strip", "--strip-unneeded", "-o", package / module.name, module)
        version = re.search(r"\.cpython-(\d+)-", module.name).group(1)
        tag = f"cp{version}-cp{version}"
    else:
        shutil.copy(ROOT / "apps" / "python" / "program_alone" / "_memreplay.py", package)
        (described / "entry_points.txt").unlink()  # pytest's plugin asks the module
    (described / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: memreplay\nRoot-Is-Purelib: false\nTag: {tag}-{PLATFORM}\n", encoding="ascii")


def check(python, wheel):
    """The newest glibc that the wheel asks for is the one that its name says, or older."""
    said = run(python, "-m", "auditwheel", "show", wheel)
    found = re.search(r'manylinux_2_(\d+)_\w+"', said)
    if not found or int(found.group(1)) > int(PLATFORM.split("_")[2]):
        raise SystemExit(f"package: {wheel.name} asks for more than its name says\n{said}")


def write(python, program, copyright_file, spdx, modules, out, environment):
    """Writes the wheels into `out`."""
    with tempfile.TemporaryDirectory() as name:
        files = pathlib.Path(name)
        shutil.copy(program, files / "program")
        shutil.copy(copyright_file, files / "copyright")
        shutil.copy(spdx, files / "spdx.json")
        told = run(python, "-c", DESCRIBE, files, cwd=ROOT, env=environment)
        information = files / told.strip().splitlines()[-1]
        for number, module in enumerate([None, *modules]):
            wheel = files / str(number)
            lay_out(wheel, information, files, module)
            run(python, "-m", "wheel", "pack", "--dest-dir", files, wheel, env=environment)
        for wheel in sorted(files.glob("*.whl")):
            check(python, wheel)
            shutil.copy(wheel, out)
