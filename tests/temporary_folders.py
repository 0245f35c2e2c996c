"""The folders of a test, for tests that become somebody else."""

from __future__ import annotations

import tempfile
from pathlib import Path


def folders_above(path: Path) -> list[Path]:
    """Returns the folders that were made for a test on the way to `path`, which nobody else may enter at first."""
    place = Path(tempfile.gettempdir())
    return [folder for folder in path.parents if folder != place and folder.is_relative_to(place)]
