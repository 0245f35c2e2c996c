"""Runs a small program under the real agent and reads what it left."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import new_operation
import pytest
import warm_python

from diagnostics.record.record import RunRecord, agent_environment, make_record_folder

DEADLINE_S = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A program that ran under the agent. `script` is its first file."""

    returncode: int
    stdout: str
    stderr: str
    record: RunRecord
    script: Path


class Watcher:
    """Runs programs below one temporary folder."""

    def __init__(self, folder: Path, *, warm: bool = False) -> None:
        self.folder, self.warm = folder, warm
        self.records = folder / "record"

    def __call__(
        self,
        source: str,
        *,
        files: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        deep: bool = False,
        watched: bool = True,
        python: Sequence[str] = (sys.executable,),
    ) -> Watched:
        """Runs `source` as main.py beside `files`, in an environment that differs by `env`."""
        for name, text in {"main.py": source, **(files or {})}.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        make_record_folder(self.records)
        base = {key: value for key, value in os.environ.items() if not key.startswith(("UPS_DOCTOR", "PYTHONPATH"))}
        agent = agent_environment(self.records, deep=deep, pythonpath="") if watched else {}
        child = self._ended(python, {**base, "OMP_NUM_THREADS": "1", **agent, **(env or {})})
        return Watched(
            returncode=child.returncode,
            stdout=child.stdout,
            stderr=child.stderr,
            record=RunRecord.load(self.records),
            script=self.folder / "main.py",
        )

    def _ended(self, python: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        if self.warm:
            return warm_python.main_program(env, self.folder)
        return subprocess.run(
            [*python, "main.py"], cwd=self.folder, env=env, capture_output=True, text=True, timeout=DEADLINE_S,
            check=False,
        )  # fmt: skip


@pytest.fixture(scope="session")
def watcher() -> type[Watcher]:
    """For fixtures that live longer than one test."""
    return Watcher


@pytest.fixture
def watch(tmp_path: Path) -> Callable[..., Watched]:
    """The watcher, with a folder of its own."""
    return Watcher(tmp_path)


@pytest.fixture
def watch_warm(tmp_path: Path) -> Callable[..., Watched]:
    """The same for programs whose start is not what is asked: torch is imported before the agent begins.

    It costs a tenth of the seconds. Programs whose start, environment of C or order of imports matters take `watch`.
    """
    return Watcher(tmp_path, warm=True)


@pytest.fixture
def with_operation(watch: Callable[..., Watched], tmp_path: Path) -> Callable[..., list[tuple[object, ...]]]:
    """Returns what two ranks tell whose torch has an operation more: see new_operation.py."""

    def of(function: str, calls: str, row: str = "") -> list[tuple[object, ...]]:
        return new_operation.told(watch, function, calls, tmp_path / "doctor", row)

    return of
