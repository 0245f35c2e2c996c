"""Lightning's CSVLogger: metrics.csv beside hparams.yaml."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from diagnostics.triage.readers.common import newest_change_s, plain_yaml, rows_of
from diagnostics.triage.trace import Folder, RunTrace, flat

KIND = "lightning-csv"
NAME = "metrics.csv"


def find(folder: Folder) -> Iterator[Path]:
    """Yields the folder: hparams.yaml is written when training begins, metrics.csv with its first rows."""
    if NAME in folder.names or ("hparams.yaml" in folder.names and folder.path.name.startswith("version_")):
        yield folder.path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields one run; rows without a metrics.csv are none, and Lightning writes them 100 at a time."""
    settings = flat(plain_yaml(path / "hparams.yaml"))
    file = path / NAME
    count, step, notes = 0, None, ["Lightning's CSVLogger writes rows every 100 logs: the last ones may be lost"]
    if file.is_file():
        rows = rows_of(file)
        count = max(rows.count - 1, 0)
        head = next(csv.reader([rows.first.decode("utf-8", "replace")]), [])
        last = next(csv.reader([rows.last.decode("utf-8", "replace")]), [])
        value = dict(zip(head, last, strict=False)).get("step", "") if count else ""
        step = int(value) if value.isdigit() else None
        notes += ["the last line is cut off: it ended while a row was written"] if rows.is_cut else []
    made = path / "hparams.yaml" if (path / "hparams.yaml").exists() else file
    yield RunTrace(
        source=KIND, path=str(path),
        run_id=f"{path.parent.name}/{path.name}" if path.name.startswith("version_") else path.name,
        started_s=made.stat().st_mtime, last_sign_s=newest_change_s(path),
        last_row_s=file.stat().st_mtime if count else None, rows=count, last_step=step, config=settings,
        is_torn=count > 0 and rows_of(file).is_cut, notes=tuple(notes),
    )  # fmt: skip
