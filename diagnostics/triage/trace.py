"""What one source says of one run. Everything is optional: no source knows all, and none is believed alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

Scalar = str | int | float | bool | None


class Claim(StrEnum):
    """What a source itself says about how the run stands; a claim, no verdict."""

    NOTHING = ""
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    KILLED = "killed"
    HUNG = "hung"  # seen by the doctor while it stood still
    MEASURED = "measured"  # the doctor ended it, as it was asked to, when it had seen enough
    LIED = "lied"  # the doctor's own record: said 0 and something had failed


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTrace:
    """One run as one source tells it. Times are seconds since 1970."""

    source: str  # KIND of its reader
    path: str
    run_id: str = ""
    aliases: tuple[str, ...] = ()  # ids of other trackers that it names
    project: str = ""
    program: str = ""
    started_s: float | None = None
    ended_s: float | None = None  # as recorded, never guessed
    last_sign_s: float | None = None  # the newest time in it, of any kind
    last_row_s: float | None = None
    last_stat_s: float | None = None  # of system statistics, which go on while a training hangs
    row_gap_s: float | None = None  # usual time between rows
    rows: int | None = None  # None: holds no rows; 0: could, and has none
    rows_are_all: bool = False  # it was closed in order: no row was left in a buffer
    last_step: int | None = None
    planned_steps: int | None = None
    runtime_s: float | None = None
    host: str = ""
    pid: int | None = None
    rank: int | None = None
    world_size: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    said: Claim = Claim.NOTHING
    said_words: str = ""  # in which words
    is_tracker: bool = True  # it is where metrics go; False: logs, launchers, the doctor
    records_end: bool = False  # a run that ends in order is marked so: only then does the lack of an end tell anything
    is_torn: bool = False  # its last row is half a row
    error: str = ""  # "RuntimeError: boom (train.py:11)"
    config: Mapping[str, Scalar] = field(default_factory=dict)
    environment: Mapping[str, Scalar] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder of the walk; for a file that was named by itself, `names` holds that one."""

    path: Path
    names: frozenset[str]  # of files
    folders: frozenset[str] = frozenset()
    named: bool = False  # the user named this file: a reader need not be shy

    def files(self, *endings: str) -> list[Path]:
        """Returns the files with one of these endings, sorted."""
        return [self.path / name for name in sorted(self.names) if name.endswith(endings)]


def flat(value: object, prefix: str = "", depth: int = 0) -> dict[str, Scalar]:
    """Returns nested settings as {"data.workers": 8}; lists as their text, of a bounded length."""
    if not isinstance(value, Mapping):
        return {}
    found: dict[str, Scalar] = {}
    for key, item in list(value.items())[:2000]:
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and depth < 6:
            found |= flat(item, f"{name}.", depth + 1)
        elif item is None or isinstance(item, (bool, int, float)):
            found[name] = item
        else:
            found[name] = str(item)[:200]
    return found


def plain(value: Scalar) -> Scalar:
    """Returns a text that stands for a number or a truth value as that: some trackers keep texts only."""
    if not isinstance(value, str):
        return value
    if value in ("True", "true", "False", "false"):
        return value.lower() == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
