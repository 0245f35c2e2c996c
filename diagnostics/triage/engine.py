"""Triage: walks what the user named, lets readers read, joins traces into runs, judges each and compares them."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from diagnostics.core.errors import UsageError
from diagnostics.core.registry import discover
from diagnostics.triage import readers, verdicts
from diagnostics.triage.contrasts import Pattern, patterns
from diagnostics.triage.joining import joined
from diagnostics.triage.run import JUST_WRITTEN_S, QUIET_S, Judgement, Known, RunFate, TrackedRun
from diagnostics.triage.trace import Folder, RunTrace

SKIPPED = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", "site-packages", ".tox", ".mypy_cache"})
MOST_FOLDERS = 200_000
LOOKED_FOR = "W&B, TensorBoard, MLflow, metrics.jsonl, Lightning's CSV, logs, records of the doctor, runs of ups"
LONGEST_START_S = 3600.0  # where the host is not known, an older process of that number is another one
STARTED_BEFORE_S = 2.0  # clocks of /proc and of files differ by less


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """One row of the table."""

    run: TrackedRun
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """The whole answer."""

    rows: tuple[JudgedRun, ...]
    patterns: tuple[Pattern, ...]
    unread: tuple[str, ...]  # "FILE: why"
    seconds: float
    now_s: float


def triage(paths: Sequence[Path], *, more: Sequence[RunTrace] = (), now_s: float | None = None) -> Triage:
    """Returns the verdicts over all runs below `paths` and over the traces in `more`. Raises UsageError for none."""
    began, now_s = time.monotonic(), time.time() if now_s is None else now_s
    unread: list[str] = []
    traces = [*more, *traces_below(paths, unread)]
    if not traces:
        where = ", ".join(map(str, paths)) or "what was given"
        raise UsageError(f"no run was found in {where}", hint=unread[0] if unread else f"looked for: {LOOKED_FOR}")
    runs = joined(traces)
    known = Known(now_s=now_s, is_alive=_liveness(now_s), runs=runs)
    asked = list(discover(verdicts, key="ORDER").values())
    judged = [(run, _judgement(run, known, asked)) for run in runs]
    return Triage(
        rows=tuple(JudgedRun(run=run, judgement=judgement) for run, judgement in judged),
        patterns=patterns(judged), unread=tuple(unread), seconds=time.monotonic() - began, now_s=now_s,
    )  # fmt: skip


def traces_below(paths: Sequence[Path], unread: list[str]) -> Iterator[RunTrace]:
    """Yields what all readers find; what one cannot read is put into `unread`."""
    found = list(discover(readers, key="KIND").values())
    for folder, asked in (one for path in paths for one in _folders(path, found)):
        for reader in asked:
            yield from _read(reader, folder, unread)


def _read(reader: ModuleType, folder: Folder, unread: list[str]) -> Iterator[RunTrace]:
    try:
        paths = list(reader.find(folder))
    except (OSError, ValueError) as error:
        unread.append(f"{folder.path}: {error}")
        return
    for path in paths:
        try:
            yield from list(reader.read(path))
        except (OSError, ValueError) as error:
            unread.append(f"{path}: {error}")


def _folders(path: Path, found: Sequence[ModuleType]) -> Iterator[tuple[Folder, Sequence[ModuleType]]]:
    """Yields each folder from a path downwards with the readers to ask; a file that was named as one by itself.

    A folder that is a run as a whole is asked about by its owner alone, and nothing below it is.
    """
    if not path.is_dir():
        if not path.exists():
            raise UsageError(f"there is no {path}", hint="ups-doctor triage FOLDER, or a log's path")
        yield Folder(path.absolute().parent, frozenset({path.name}), named=True), found
        return
    owners = [reader for reader in found if getattr(reader, "OWNS", False)]
    for count, (here, below, names) in enumerate(os.walk(path.absolute())):
        if count >= MOST_FOLDERS:
            return
        folder = Folder(Path(here), frozenset(names), frozenset(below))
        owner = next((one for one in owners if any(folder.path == own for own in one.find(folder))), None)
        if owner is not None:
            below.clear()
            yield folder, [owner]
            continue
        below[:] = sorted(one for one in below if one not in SKIPPED and not Path(here, one).is_symlink())
        yield folder, found


def _judgement(run: TrackedRun, known: Known, asked: Sequence[ModuleType]) -> Judgement:
    for verdict in asked:
        judgement: Judgement | None = verdict.judge(run, known)
        if judgement is not None:
            return judgement
    if known.is_alive(run) is False:
        words = f"it is over after {run.rows} rows, and nothing that it left records whether it ended well"
    else:
        words = "no end is recorded, and nothing tells whether it still runs"
    return Judgement(fate=RunFate.UNKNOWN, evidence=(words,))


def _liveness(now_s: float) -> Callable[[TrackedRun], bool | None]:
    """Returns what tells whether a run's process lives: by pid and start on this host, by silence elsewhere."""
    here = socket.gethostname()
    known: dict[int, bool | None] = {}

    def is_alive(run: TrackedRun) -> bool | None:
        if id(run) not in known:
            known[id(run)] = _is_alive(run, here, now_s)
        return known[id(run)]

    return is_alive


def _is_alive(run: TrackedRun, here: str, now_s: float) -> bool | None:
    pids = [trace for trace in run.traces if trace.pid is not None and trace.host in ("", here)]
    if any(_is_process(trace) for trace in pids):
        return True
    quiet = now_s - run.last_sign_s if run.last_sign_s is not None else None
    certain = any(trace.host for trace in pids)
    if pids and (certain or (quiet is not None and quiet > JUST_WRITTEN_S)):
        return False
    return False if quiet is not None and quiet > QUIET_S else None


def _is_process(trace: RunTrace) -> bool:
    """Whether the process that a trace names is there: of its number, and no younger than the run."""
    try:
        ticks = int(Path(f"/proc/{trace.pid}/stat").read_text().rpartition(")")[2].split()[19])
        state = Path(f"/proc/{trace.pid}/stat").read_text().rpartition(")")[2].split()[0]
        uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return False
    began_s = time.time() - uptime_s + ticks / os.sysconf("SC_CLK_TCK")
    if state in "ZX" or trace.started_s is None:
        return False
    longest = float("inf") if trace.host else LONGEST_START_S
    return -STARTED_BEFORE_S <= trace.started_s - began_s <= longest
