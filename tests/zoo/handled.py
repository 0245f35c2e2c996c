"""Programs that provoke, expect or handle failures: nothing about them may change, and the lies among them are told.

    python tests/zoo/handled.py [--only NAME...] [--lies] [--timeout S]

Each folder of `handled/` is one program as people write them: test suites, sweeps, fallbacks, chaos tests, scripts that
read codes. It is run by itself and under `ups-doctor run`, in a copy of its folder; exit code and stdout must be the
same. Those with "lie" in their truth.json drop a failure: they must end with another code than 0, and the report has to
name the line. Programs that need a package or a command which is not here are skipped. One that
did not end is tried once more, and its line says so: over gloo, torch 2.13 may hang when the interpreter ends, in 1 of
6 runs of some programs, watched or not.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "handled"
DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()"]
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
NO_END = "did not end"
_SPACE = re.compile(rb"[=\s]+")  # pytest fills its lines


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended; `code` is None where its time was over."""

    code: int | None
    out: bytes


def ended(command: Sequence[str], folder: Path, timeout_s: float) -> Ended:
    """Runs a command in a session of its own."""
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile() as out, subprocess.Popen(
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            code: int | None = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        out.seek(0)
        return Ended(code, out.read())


def alike(rule: str, one: bytes, other: bytes) -> bool:
    """Whether two outputs are the same by the rule that a program states: exact, unordered, or varies in numbers."""
    if rule == "exact":
        return one == other
    if rule == "unordered":
        return sorted(one.splitlines()) == sorted(other.splitlines())
    first, second = (
        sorted(_SPACE.sub(b" ", _NUMBER.sub(b"#", line)) for line in text.splitlines()) for text in (one, other)
    )
    return first == second


def problems(program: Path, truth: dict[str, Any], timeout_s: float) -> list[str]:
    """Returns what was wrong, in words; [] where all is as it should be."""
    with tempfile.TemporaryDirectory(prefix="handled-") as place:
        bare = ended(truth["cmd"], _copy(program, place), timeout_s)
        report = Path(place) / "report"
        command = [*DOCTOR, "run", "--report-dir", str(report), "--", *truth["cmd"]]
        watched = ended(command, _copy(program, place), timeout_s)
        said = json.loads((report / "report.json").read_text()) if (report / "report.json").exists() else {}
    found = [] if bare.code == truth["exit_code"] else [f"by itself it {_ended(bare.code)}"]
    if truth.get("lie"):
        if watched.code in (0, None) or said.get("failure_class") != "masked-exit":
            found.append(f"the lie is not told: {watched.code}, {said.get('outcome')}, {said.get('failure_class')}")
        elif not {truth["location"], truth["failing"]} & set(said["locations"]):
            found.append(f"{said['locations']} in place of {truth['failing']} and {truth['location']}")
    elif watched.code != truth["exit_code"]:
        found.append(f"it {_ended(watched.code)} in place of {truth['exit_code']}: {said.get('root_cause')}")
    if not alike(truth["stdout"], bare.out, watched.out):
        found.append("its output differs")
    return found


def _ended(code: int | None) -> str:
    return NO_END if code is None else f"ended with {code}"


def _lacking(truth: dict[str, Any]) -> str | None:
    """Returns the package or the command that this Python lacks."""
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ["PATH"]])
    if shutil.which(truth["cmd"][0], path=path) is None:
        return truth["cmd"][0]
    return next((name for name in truth.get("needs", ()) if importlib.util.find_spec(name) is None), None)


def _copy(program: Path, place: str) -> Path:
    """Returns a fresh copy, always under the same name: tracebacks print it."""
    folder = Path(place) / program.name
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(program, folder, ignore=shutil.ignore_patterns("truth.json", "__pycache__")))


def main() -> int:
    """Runs the programs asked for and prints one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these programs")
    parser.add_argument("--lies", action="store_true", help="the lies alone")
    parser.add_argument("--timeout", type=float, default=180.0, metavar="S", help="for one run of a program (180)")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored, by the programs too
    wrong = ran = 0
    for program in sorted(path.parent for path in FOLDER.rglob("truth.json")):
        truth = json.loads((program / "truth.json").read_text())
        if (options.only and program.name not in options.only) or (options.lies and not truth.get("lie")):
            continue
        if (needed := _lacking(truth)) is not None:
            print(f"skip   {program.name}: needs {needed}")
            continue
        found, again = problems(program, truth, options.timeout), ""
        if any(NO_END in one for one in found):
            found, again = problems(program, truth, options.timeout), f"(second try: {'; '.join(found)})"
        ran, wrong = ran + 1, wrong + bool(found)
        print(f"{'WRONG' if found else 'ok':6} {program.name:34} {'; '.join([*found, again])}", flush=True)
    print(f"{ran - wrong} of {ran} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
