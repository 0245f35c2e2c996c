"""Runs the models of this folder through real children: many in one child, or one a command."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from diagnostics.core.findings import Finding
from diagnostics.inspection.engine import Inspected, InspectionRequest, Target, findings_of, inspect
from diagnostics.machine.this import open_machine

MODELS = Path(__file__).parent / "models"
SECONDS = re.compile(r"\(\d+\.\d s\)")


class Ran(NamedTuple):
    code: int
    stdout: str
    stderr: str


def in_one_child(file: str, batches: dict[str, str]) -> Inspected:
    """Inspects each factory of a file of models with its batches, in one child."""
    path = MODELS / f"{file}.py"
    targets = tuple(
        Target(name=name, factory=f"{path}:{name}", inputs=f"{path}:{batch}" if batch else "")
        for name, batch in batches.items()
    )
    with open_machine(sys.executable) as machine, tempfile.TemporaryDirectory() as folder:
        wanted = InspectionRequest(
            targets=targets, python=sys.executable, folder=Path(folder), deadline_s=300, rerun="again"
        )
        return inspect(wanted, machine.child)


def said(inspected: Inspected) -> dict[str, list[str]]:
    """Returns 'CODE severity title' of each finding, by model; the folder of models is left out."""
    return {
        name: [f"{one.code} {one.severity.name.lower()} {_plain(one)}" for one in findings_of(seen)]
        for name, seen in inspected.seen
    }


def _plain(finding: Finding) -> str:
    return re.sub(r"[\w./]*/(\w+\.py)", r"\1", finding.title)


@functools.cache
def line(file: str, mark: str) -> str:
    """Returns "faulty.py:32" for the line that ends with `# here: mark`."""
    lines = (MODELS / f"{file}.py").read_text().splitlines()
    (number,) = (number for number, text in enumerate(lines, 1) if text.endswith(f"# here: {mark}"))
    return f"{file}.py:{number}"


def commands(*words: Sequence[str]) -> list[Ran]:
    """Runs `ups-doctor inspect` with each of these lists of words in the folder of models, three at a time."""
    with ThreadPoolExecutor(max_workers=3) as pool:
        return list(pool.map(_command, words))


def _command(words: Sequence[str]) -> Ran:
    argv = [sys.executable, "-c", "from diagnostics.cli import main; main()", "inspect", *words]
    done = subprocess.run(argv, cwd=MODELS, capture_output=True, text=True, timeout=200)
    return Ran(done.returncode, done.stdout, SECONDS.sub("(S s)", done.stderr))
