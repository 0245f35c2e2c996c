"""Finds and reads doctor.yaml: limits and deadlines that differ from the built-in ones."""

from __future__ import annotations

from pathlib import Path

from diagnostics.core.strict_yaml import load
from diagnostics.preflight.probe import Thresholds

PLACES = (Path("configs/doctor.yaml"), Path("doctor.yaml"))  # below the current folder


def find(explicit: Path | None = None) -> Path | None:
    """Returns the file named by the user, else the first of PLACES that exists, else None."""
    if explicit is not None:
        return explicit
    return next((path for path in PLACES if path.is_file()), None)


def read_thresholds(explicit: Path | None = None) -> Thresholds:
    """Returns the limits of the file that `find` gives; without one the built-in limits.

    Raises UsageError naming file, line and nearest key for what does not fit.
    """
    path = find(explicit)
    return load(path, Thresholds) if path is not None else Thresholds()
