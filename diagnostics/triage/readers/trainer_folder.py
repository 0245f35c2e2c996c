"""TrackedRun folders of `ups train`: config.yaml, metrics.jsonl, checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from diagnostics.triage.readers.common import newest_change_s, plain_yaml
from diagnostics.triage.readers.json_rows import run_of_rows
from diagnostics.triage.trace import Claim, Folder, RunTrace, flat

KIND = "ups"
OWNS = True
METRICS = "metrics.jsonl"


def find(folder: Folder) -> Iterator[Path]:
    """Yields a run's folder."""
    if "config.yaml" in folder.names and "checkpoints" in folder.folders:
        yield folder.path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the one run; it is over where the model of its last stage was written as best."""
    config = flat(plain_yaml(path / "config.yaml"))
    lines = run_of_rows(path / METRICS, KIND) if (path / METRICS).is_file() else None
    started = (path / "config.yaml").stat().st_mtime
    sign = newest_change_s(path)
    world = config.get("training.nproc")
    base = lines or RunTrace(source=KIND, path=str(path), rows=0)
    has_model = (path / "checkpoints" / "best.pt").exists()
    yield replace(
        base, source=KIND, path=str(path), run_id=path.name, started_s=started, last_sign_s=sign,
        last_row_s=base.last_row_s or ((path / METRICS).stat().st_mtime if base.rows else None),
        runtime_s=sign - started if sign else None, config=config, world_size=world if isinstance(world, int) else None,
        rows_are_all=True, notes=(*base.notes, *(("checkpoints/best.pt was written",) if has_model else ())),
        said=Claim.NOTHING,
    )  # fmt: skip
