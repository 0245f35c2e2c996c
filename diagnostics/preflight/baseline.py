"""Measurements of the last run that passed, so that a later run can say what became slower."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diagnostics.core.files import write_whole
from diagnostics.core.findings import Verdict, to_json

FILE = "last-good-preflight.json"
Measured = Mapping[str, Mapping[str, Any]]


def key(nproc: int, backend: str) -> str:
    """Returns under which name runs are compared: only equal machines, ranks and backends are."""
    return f"{socket.gethostname()}:{nproc}:{backend}"


def read(folder: Path, run: str) -> Measured:
    """Returns the measurements by check code, {} where none are kept or the file is damaged."""
    kept = _read_all(folder).get(run, {})
    return {code: values for code, values in kept.items() if isinstance(values, dict)} if isinstance(kept, dict) else {}


def remember(folder: Path, run: str, verdict: Verdict) -> None:
    """Keeps what this passed run measured; checks that were not run keep their old values. Raises OSError.

    A check that found anything keeps its old values too: else a slow decay would become the new good.
    """
    if verdict.exit_code() != 0:
        return
    fresh = {
        outcome.code: to_json(outcome.measured)
        for outcome in verdict.outcomes
        if outcome.passed and not outcome.findings and outcome.measured
    }
    if fresh:
        every = _read_all(folder)
        write_whole(folder / FILE, json.dumps({**every, run: {**read(folder, run), **fresh}}, indent=1) + "\n")


def _read_all(folder: Path) -> dict[str, Any]:
    try:
        every = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return every if isinstance(every, dict) else {}
