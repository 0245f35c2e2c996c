"""MLflow's folders: `mlruns/EXPERIMENT/RUN` with meta.yaml, params, metrics and tags as small files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.record import untrusted_files
from diagnostics.triage.readers.common import milliseconds, mlflow_run, newest_change_s, plain_yaml
from diagnostics.triage.trace import Folder, RunTrace

KIND = "mlflow"
OWNS = True
STATUS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
MOST_NAMES = 2000
_ROW = re.compile(r"^(\d{1,16}) \S+(?: (-?\d{1,16}))?$", re.MULTILINE)


def find(folder: Folder) -> Iterator[Path]:
    """Yields a run's folder: the meta.yaml of an experiment stands above folders of runs, that of a run above these."""
    if "meta.yaml" in folder.names and {"params", "metrics", "tags"} & folder.folders:
        yield folder.path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the one run of a folder."""
    meta = plain_yaml(path / "meta.yaml")
    if "run_id" not in meta and "run_uuid" not in meta:
        return
    rows = [
        (int(time) / 1000, int(step or 0))
        for name in sorted(path.glob("metrics/**/*"))[:MOST_NAMES]
        if name.is_file()
        for time, step in _ROW.findall(untrusted_files.read_text(name))
    ]
    status = str(meta.get("status", ""))
    yield mlflow_run(
        source=KIND, path=str(path), run_id=str(meta.get("run_id") or meta["run_uuid"]),
        project=path.parent.name, status=STATUS.get(status, status),
        started_s=milliseconds(meta.get("start_time")), ended_s=milliseconds(meta.get("end_time")),
        rows=rows, settings=_texts(path / "params"), tags=_texts(path / "tags"), last_sign_s=newest_change_s(path),
    )  # fmt: skip


def _texts(folder: Path) -> dict[str, str]:
    files = [one for one in sorted(folder.glob("**/*"))[:MOST_NAMES] if one.is_file()]
    return {str(one.relative_to(folder)): untrusted_files.read_text(one).strip()[:200] for one in files}
