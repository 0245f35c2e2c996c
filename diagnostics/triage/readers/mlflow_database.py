"""MLflow's database, where it is a SQLite file; opened for reading only."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from diagnostics.triage.readers.common import milliseconds, mlflow_run
from diagnostics.triage.trace import Folder, RunTrace

KIND = "mlflow-database"
MAGIC = b"SQLite format 3\0"
BUSY_S = 2.0


def find(folder: Folder) -> Iterator[Path]:
    """Yields files of SQLite by their names and first bytes."""
    for path in folder.files(".db", ".sqlite", ".sqlite3"):
        if not path.is_symlink() and path.is_file():
            with path.open("rb") as file:
                if file.read(len(MAGIC)) == MAGIC:
                    yield path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields every run of the database; none where it is no MLflow one. Raises ValueError where it cannot be read."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=BUSY_S)) as database:
            yield from _runs(database, path)
    except sqlite3.Error as error:
        raise ValueError(f"the database cannot be read: {error}") from error


def _runs(database: sqlite3.Connection, path: Path) -> Iterator[RunTrace]:
    tables = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
    if not {"runs", "metrics", "params", "tags"} <= tables:
        return
    settings = _by_run(database, "params")
    tags = _by_run(database, "tags")
    rows: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for run, time, step in database.execute("select run_uuid, timestamp, step from metrics"):
        rows[run].append(((time or 0) / 1000, step or 0))
    names = dict(database.execute("select experiment_id, name from experiments")) if "experiments" in tables else {}
    columns = "select run_uuid, status, start_time, end_time, experiment_id from runs order by start_time"
    for run, status, started, ended, experiment in database.execute(columns):
        yield mlflow_run(
            source=KIND, path=str(path), run_id=str(run), project=str(names.get(experiment, "")), status=str(status),
            started_s=milliseconds(started), ended_s=milliseconds(ended), rows=rows[run], settings=settings[run],
            tags=tags[run], last_sign_s=None,
        )  # fmt: skip


def _by_run(database: sqlite3.Connection, table: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for run, key, value in database.execute(f"select run_uuid, key, value from {table}"):  # noqa: S608 - a literal
        found[run][str(key)] = str(value)[:200]
    return found
