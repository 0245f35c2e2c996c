"""A run as its file of one JSON object a row tells it."""

from __future__ import annotations

from pathlib import Path

from diagnostics.core import untrusted_json
from diagnostics.triage.decoding.times import iso_s
from diagnostics.triage.readers.common import plain_yaml, rows_of, usual_gap_s
from diagnostics.triage.trace import RunTrace, flat

STEPS = ("step", "global_step", "_step", "iteration", "iter", "batch", "epoch")
TIMES = ("time", "timestamp", "_timestamp", "wall_time", "ts", "date")
NAMES = ("metrics", "train", "log", "history", "progress", "results", "scalars")
CONFIGS = (
    "config.yaml",
    "config.yml",
    "hparams.yaml",
    "params.yaml",
    "config.json",
    "hparams.json",
    "params.json",
    "args.json",
    "args.yaml",
)  # JSON is YAML, too


def run_of_rows(path: Path, source: str) -> RunTrace | None:
    """Returns the run; rows without a key that counts steps are none, but an empty file is a run without rows."""
    rows = rows_of(path)
    first, last = _object(rows.first), _object(rows.last)
    key = next((name for name in STEPS if name in (first or {})), None)
    if rows.count and (first is None or key is None):
        return None
    times = [time for line in rows.latest if (time := _time_s(_object(line))) is not None]
    step = (last or {}).get(key or "")
    file = path.stat()
    started_s = _time_s(first)
    return RunTrace(
        source=source, path=str(path), run_id=path.parent.name if path.stem in NAMES else path.stem,
        started_s=started_s, last_sign_s=max([file.st_mtime, *times[-1:]]), last_row_s=times[-1] if times else None,
        row_gap_s=usual_gap_s(times), rows=rows.count, last_step=int(step) if isinstance(step, (int, float)) else None,
        runtime_s=times[-1] - started_s if times and started_s else None,
        config=next((flat(found) for name in CONFIGS if (found := plain_yaml(path.parent / name))), {}),
        is_torn=rows.is_cut,
        notes=("the last line is cut off: it ended while a row was written",) if rows.is_cut else (),
    )  # fmt: skip


def _object(line: bytes) -> dict[str, object] | None:
    try:
        value = untrusted_json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _time_s(row: dict[str, object] | None) -> float | None:
    """Returns a row's time; milliseconds are told by their size."""
    value = next((row[name] for name in TIMES if name in row), None) if row else None
    if isinstance(value, str):
        return iso_s(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value < 1e9:
        return None
    return value / 1000 if value > 1e11 else float(value)
