"""Real small jobs through the real command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ranks import as_ranks
from warm_python import doctor

DEADLINE_S = 300


@dataclass(frozen=True)
class Watched:
    """What the doctor said about a job; `report` is its report.json."""

    code: int
    report: dict[str, Any]
    output: str

    @property
    def verdict(self) -> tuple[str, str, list[int], str | None]:
        """Outcome, class, culprit ranks and location."""
        told = self.report
        return told["outcome"], told["failure_class"], told["culprit_ranks"], told["location"]


@pytest.fixture
def watched(tmp_path: Path) -> Callable[..., Watched]:
    """Returns watched(argv, **files): writes the files into a folder of its own and runs argv there under the doctor.

    "python" and "torchrun" stand for the ones of this environment; a file's name has "__" for "/" and ends in its
    suffix after the last "_": `train_py="..."`. With `ranks`, a program of Python becomes so many, by forks of one that
    has imported torch: the seconds of a launcher are for tests that ask about it.
    """

    def run(*argv: str, options: tuple[str, ...] = (), ranks: int = 0, **files: str) -> Watched:
        folder = tmp_path / "job"
        for name, text in files.items():
            stem, _, suffix = name.replace("__", "/").rpartition("_")
            path = folder / f"{stem}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        known = {"python": [sys.executable], "torchrun": [sys.executable, "-m", "torch.distributed.run"]}
        report = tmp_path / "report"
        environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        if ranks:
            environ |= as_ranks(ranks, argv[1])
        done = doctor(
            "run", "--report-dir", report, *options, "--", *known.get(argv[0], [argv[0]]), *argv[1:],
            env=environ, cwd=folder, deadline_s=DEADLINE_S,
        )  # fmt: skip
        said = (done.stdout + done.stderr).decode()
        written = report / "report.json"
        assert written.exists(), f"no report; {said}"
        return Watched(code=done.returncode, report=json.loads(written.read_text()), output=said)

    return run
