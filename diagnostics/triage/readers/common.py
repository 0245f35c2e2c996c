"""What several readers ask of files and rows."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from diagnostics.record import untrusted_files
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.tracebacks import TracebackText
from diagnostics.triage.trace import Claim, RunTrace, flat, plain

MOST_FILES_OF_A_RUN = 200
LATEST = 50
LONGEST_ROW = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The lines of a file that is written a row at a time."""

    count: int
    first: bytes = b""
    last: bytes = b""
    latest: tuple[bytes, ...] = ()
    is_cut: bool = False  # the file does not end with a newline


def rows_of(path: Path) -> Rows:
    """Returns the lines of a file of any length, empty ones left out; the last only where it is whole."""
    count, first, rest = 0, b"", b""
    latest: deque[bytes] = deque(maxlen=LATEST)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()[-LONGEST_ROW:]
            whole = [line for line in lines if line.strip()]
            first = first or (whole[0] if whole else b"")
            count += len(whole)
            latest.extend(whole[-LATEST:])
    return Rows(count=count, first=first, last=latest[-1] if latest else b"", latest=tuple(latest), is_cut=bool(rest))


def newest_change_s(folder: Path) -> float | None:
    """Returns when the newest file at most two folders deep was written; links are not followed."""
    newest = None
    for count, path in enumerate([*folder.glob("*"), *folder.glob("*/*")]):
        if count > MOST_FILES_OF_A_RUN:
            break
        if path.is_symlink() or path.is_dir():
            continue
        changed = path.lstat().st_mtime
        newest = changed if newest is None else max(newest, changed)
    return newest


def usual_gap_s(times: Sequence[float]) -> float | None:
    """Returns the median time between rows, None where there are fewer than three."""
    gaps = [after - before for before, after in pairwise(times) if after >= before]
    return statistics.median(gaps) if len(gaps) > 1 else None


def error_words(found: Sequence[TracebackText]) -> str:
    """Returns "RuntimeError: boom (train.py:11)" of the last exception that was printed, "" for none."""
    if not found:
        return ""
    last = found[-1].first
    place = f" ({Path(last.frames[0].file).name}:{last.frames[0].line})" if last.frames else ""
    message = (last.message.splitlines() or [""])[0][:160]
    return f"{last.type}: {message}{place}" if message else f"{last.type}{place}"


def milliseconds(value: object) -> float | None:
    """Returns seconds of a time in milliseconds, None for none."""
    return value / 1000 if isinstance(value, (int, float)) and not isinstance(value, bool) and value else None


class _TolerantLoader(yaml.SafeLoader):
    """Reads what other programs' tags stand before as nothing: no object is ever made."""


_TolerantLoader.add_multi_constructor("", lambda loader, suffix, node: None)


def plain_yaml(path: Path) -> dict[str, Any]:
    """Returns a YAML file's mapping, {} where there is none; foreign tags are read as null."""
    try:
        value = yaml.load(untrusted_files.read_text(path), _TolerantLoader)  # noqa: S506 - a SafeLoader
    except FileNotFoundError:
        return {}
    except (yaml.YAMLError, AgentFileError, RecursionError) as error:
        raise ValueError(f"{path.name} is no YAML: {error}") from error
    return value if isinstance(value, dict) else {}


MLFLOW_SAID = {
    "RUNNING": Claim.RUNNING, "SCHEDULED": Claim.RUNNING, "FINISHED": Claim.FINISHED, "FAILED": Claim.FAILED,
    "KILLED": Claim.KILLED,
}  # fmt: skip


def mlflow_run(
    *, source: str, path: str, run_id: str, project: str, status: str, started_s: float | None, ended_s: float | None,
    rows: Sequence[tuple[float, int]], settings: Mapping[str, str], tags: Mapping[str, str], last_sign_s: float | None,
) -> RunTrace:  # fmt: skip
    """Returns the RunTrace of a run as MLflow keeps it; rows are its steps, of whatever metric."""
    first_times: dict[int, float] = {}
    for time_s, step in sorted(rows):
        first_times.setdefault(step, time_s)
    last_row_s = max((time_s for time_s, _ in rows), default=None)
    end_s = ended_s or last_row_s
    return RunTrace(
        source=source, path=path, run_id=run_id, project=project, program=tags.get("mlflow.source.name", ""),
        started_s=started_s, ended_s=ended_s, last_sign_s=max(filter(None, (end_s, last_sign_s)), default=None),
        last_row_s=last_row_s, row_gap_s=usual_gap_s(sorted(first_times.values())[-50:]), rows=len(first_times),
        records_end=True, rows_are_all=True,  # each row is written before the next line of the program runs
        last_step=max(first_times, default=None),
        runtime_s=end_s - started_s if end_s and started_s else None,
        said=MLFLOW_SAID.get(status, Claim.NOTHING), said_words=f"MLflow's status is {status}",
        config={name: plain(value) for name, value in flat(settings).items()},
        environment={"commit": tags["mlflow.source.git.commit"]} if "mlflow.source.git.commit" in tags else {},
    )  # fmt: skip
