"""The programs of the zoo and what is true about them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

JOBS = Path(__file__).parent / "jobs"
_looked_below = [JOBS]
# A hang that nothing proves is ended after so long; a healthy program gets the doctor's own default.
STALL_TIMEOUT_S = 20.0
PACKAGES = ("accelerate", "lightning", "transformers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """One program: how it is started and what a good engineer would say about it.

    `lines` and `also_lines` are acceptable as "file:line"; the second are further from the cause, but still right.
    `signal` is what a culprit rank dies of. `classes_also` and `culprits_also` are other answers that are as right as
    `failure_class` and `culprit_ranks`.
    """

    name: str
    form: str
    command: tuple[str, ...]
    outcome: str
    failure_class: str
    classes_also: tuple[str, ...]
    culprit_ranks: tuple[int, ...]
    culprits_also: tuple[tuple[int, ...], ...]
    lines: tuple[str, ...]
    signal: int | None
    exit_codes: tuple[int, ...]  # what the job itself may end with; () = whatever it ends with without the doctor
    env: dict[str, str]
    setup: tuple[str, ...]
    needs: tuple[str, ...]  # of this machine, or packages of the Python that runs it
    timeout_s: float
    stall_timeout_s: float | None  # given to the doctor; None: its own default

    @property
    def healthy(self) -> bool:
        """Whether there is nothing to find."""
        return self.outcome == "ok"

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return _folders()[self.name]


def names() -> list[str]:
    """Returns the names of all programs, sorted."""
    return sorted(_folders())


def look_below(folders: Sequence[Path]) -> None:
    """Takes the programs below these folders in place of the zoo's own: a set that somebody else wrote."""
    _looked_below[:] = [folder.resolve() for folder in folders]
    _folders.cache_clear()


@cache
def _folders() -> dict[str, Path]:
    """Returns where each program lies: below the theme and class of its fault, its healthy twin beside it."""
    return {path.parent.name: path.parent for above in _looked_below for path in above.rglob("truth.json")}


def load(name: str) -> Truth:
    """Returns what is true about one program. Raises ValueError where one of its lines is in no file of it."""
    folder = _folders()[name]
    told = json.loads((folder / "truth.json").read_text())
    lines = [place for line in told["lines"] + told.get("also_lines", []) for place in _places(folder, line)]
    return Truth(
        name=name,
        form=told["form"],
        command=tuple(told["command"]),
        outcome=told["outcome"],
        failure_class=told["class"],
        classes_also=tuple(told.get("classes_also", [])),
        culprit_ranks=tuple(told["culprit_ranks"]),
        culprits_also=tuple(tuple(ranks) for ranks in told.get("culprits_also", [])),
        lines=tuple(lines),
        signal=told.get("signal"),
        exit_codes=tuple(told.get("exit_codes", [])),
        env=told.get("env", {}),
        setup=tuple(told.get("setup", [])),
        needs=tuple(told.get("needs", [])),
        timeout_s=told.get("timeout_s", 90),
        stall_timeout_s=told.get("stall_timeout_s", STALL_TIMEOUT_S if told["outcome"] == "hang" else None),
    )


def _places(folder: Path, line: dict[str, str]) -> list[str]:
    rows = (folder / line["file"]).read_text().splitlines()
    numbers = [number for number, row in enumerate(rows, 1) if row.strip() == line["text"]]
    if not numbers:
        raise ValueError(f"{folder.name}: {line['file']} has no line {line['text']!r}")
    return [f"{line['file']}:{number}" for number in numbers]


def lacking(truth: Truth, python: str = sys.executable) -> str:
    """Returns what this machine, or the Python that runs it, lacks for the program; "" where it can run."""
    able: dict[str, Callable[[], bool]] = {
        "root": lambda: os.geteuid() == 0,
        "cgroup-v1": lambda: os.access("/sys/fs/cgroup/memory/cgroup.procs", os.W_OK),
        "mount": _may_mount,
        "gcc": lambda: shutil.which("gcc") is not None,
        "g++": lambda: shutil.which("g++") is not None,
    }
    able |= {package: partial(_has_package, python, package) for package in PACKAGES}
    return ", ".join(need for need in truth.needs if not able[need]())


@cache
def _has_package(python: str, package: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _may_mount() -> bool:
    argv = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"]
    return (
        shutil.which("unshare") is not None and subprocess.run(argv, capture_output=True, check=False).returncode == 0
    )
