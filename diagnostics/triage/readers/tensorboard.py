"""TensorBoard's event files: rows, steps and times by a few protobuf fields; host and process by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.triage.decoding import protobuf_wire as wire
from diagnostics.triage.decoding.tfrecord import EventReader
from diagnostics.triage.readers.common import usual_gap_s
from diagnostics.triage.trace import Folder, RunTrace

KIND = "tensorboard"
_NAME = re.compile(r"^events\.out\.tfevents\.(?P<time>\d{9,11})\.(?P<host>.+?)(?:\.(?P<pid>\d{1,10})\.\d+)?$")
WALL_TIME, STEP, SUMMARY = 1, 2, 5
VALUE, TAG = 1, 1


def find(folder: Folder) -> Iterator[Path]:
    """Yields a folder with event files: those of one folder are one run."""
    if any(_NAME.match(name) for name in folder.names):
        yield folder.path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields one run; rows are the steps at which a scalar was written, of whatever tag."""
    files = sorted(one for one in path.iterdir() if _NAME.match(one.name) and one.is_file())
    steps: set[int] = set()
    first_s = last_row_s = None
    times: list[float] = []
    notes = []
    for file in files:
        with file.open("rb") as opened:
            reader = EventReader(opened)
            for data in reader:
                try:
                    time_s, step, is_row = _event(data)
                except ValueError as error:
                    reader.problem = str(error)
                    break
                first_s = time_s if first_s is None else min(first_s, time_s)
                if is_row:
                    if step not in steps:
                        times.append(time_s)
                    steps.add(step)
                    last_row_s = time_s if last_row_s is None else max(last_row_s, time_s)
        if reader.problem:
            notes.append(f"{file.name}: {reader.problem}")
    named = _NAME.match(files[-1].name)
    if named is None or (first_s is None and not notes):
        first_s = float(named["time"]) if named else None
    yield RunTrace(
        source=KIND, path=str(path), run_id=path.name, started_s=first_s, last_row_s=last_row_s,
        last_sign_s=max(file.stat().st_mtime for file in files), row_gap_s=usual_gap_s(times[-50:]), rows=len(steps),
        last_step=max(steps, default=None), runtime_s=last_row_s - first_s if last_row_s and first_s else None,
        host=named["host"] if named else "", pid=int(named["pid"]) if named and named["pid"] else None,
        notes=tuple(notes),
    )  # fmt: skip


def _event(data: bytes) -> tuple[float, int, bool]:
    """Returns wall time, step, and whether the event has a summary that is no setting of a plugin."""
    time_s, step, is_row = 0.0, 0, False
    for number, value in wire.fields(data):
        if number == WALL_TIME and isinstance(value, float):
            time_s = value
        elif number == STEP:
            step = wire.signed(value)
        elif number == SUMMARY and isinstance(value, bytes):
            is_row = not all(
                wire.text(one, TAG).startswith("_hparams_")
                for part, one in wire.fields(value)
                if part == VALUE and isinstance(one, bytes)
            )
    return time_s, step, is_row
