"""Files of one JSON object a row: metrics.jsonl and the like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from diagnostics.triage.readers.json_rows import NAMES, run_of_rows
from diagnostics.triage.trace import Folder, RunTrace

KIND = "jsonl"


def find(folder: Folder) -> Iterator[Path]:
    """Yields files whose name says metrics, or that were named by the user."""
    for path in folder.files(".jsonl", ".ndjson"):
        if folder.named or path.name.lower().startswith(NAMES):
            yield path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the one run of a file."""
    found = run_of_rows(path, KIND)
    if found is not None:
        yield found
