"""Wheel and sdist, put into bare environments as people do it: the doctor without torch. `make wheel-test`.

Each Python of PYTHONS (default: the one that runs this) that the package allows gets the wheel, the first one the sdist
too. There a job fails under the doctor, and report, page and export have to come of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[3]
BUILD = """
import sys
from setuptools import build_meta
target = sys.argv[1]  # each build has arguments of its own
for build in (build_meta.build_sdist, build_meta.build_wheel):
    print(build(target), file=sys.stderr)
"""


def run(*words: str | Path, cwd: Path, code: int = 0) -> str:
    """Returns what a command says. Raises SystemExit with that where it ends otherwise than wanted."""
    found = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True)
    if found.returncode != code:
        raise SystemExit(f"{' '.join(map(str, words))}: {found.returncode}\n{found.stdout}{found.stderr}")
    return found.stdout + found.stderr


def bare(python: str, folder: Path, *packages: str | Path) -> Path:
    """Returns the bin/ of a new environment with these packages."""
    run(python, "-m", "venv", folder, cwd=folder.parent)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", *packages, cwd=folder.parent)
    return folder / "bin"


def built(folder: Path) -> list[Path]:
    """Returns wheel and sdist, built from what git knows, and nothing that lies beside it."""
    tools = bare(sys.executable, folder / "tools", "setuptools>=77")
    source = folder / "source"
    source.mkdir()
    listed = run("git", "ls-files", "-z", cwd=PROJECT).split("\0")
    for name in filter(None, listed):
        if not name.startswith(("tests/", "reports/")) and (PROJECT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((PROJECT / name).read_bytes())
    run(tools / "python", "-c", BUILD, folder / "dist", cwd=source)
    return sorted((folder / "dist").iterdir(), key=lambda path: path.suffix != ".whl")


def tried(tools: Path, folder: Path) -> None:
    """Has a job fail under the doctor, in a folder without its sources."""
    folder.mkdir()
    (folder / "train.py").write_text("raise ValueError('a bad batch')\n")
    doctor, python = tools / "ups-doctor", tools / "python"
    print(f"  {run(doctor, '--version', cwd=folder).strip()}")
    said = run(doctor, "run", "--report-dir", "r", "--", python, "train.py", cwd=folder, code=1)
    assert "python-exception" in said, said
    assert "a bad batch" in (folder / "r" / "report.html").read_text()
    run(doctor, "export", "r", "--perfetto", "--json-lines", cwd=folder)
    run(doctor, "top", "r", cwd=folder)
    assert "_UPS_DOCTOR_COMPLETE" in run(doctor, "completion", "bash", cwd=folder)
    assert "torch" not in run(python, "-m", "pip", "list", cwd=folder)


def main() -> None:
    pythons = os.environ.get("PYTHONS", sys.executable).split()
    with tempfile.TemporaryDirectory(prefix="ups-doctor-wheel-") as name:
        folder = Path(name)
        wheel, sdist = built(folder)
        for number, python in enumerate(pythons):
            for package in (wheel, sdist) if not number else (wheel,):
                print(f"{python}: {package.name}")
                place = folder / f"{number}-{package.suffix[1:]}"
                tried(bare(python, place, package), folder / f"{place.name}-job")


if __name__ == "__main__":
    main()
