"""The files that a latent cache consists of: known by their names, so that nothing else is ever removed."""

from __future__ import annotations

import re
from pathlib import Path

MANIFEST = "manifest.json"
_OURS = re.compile(r"(train|validation)_(a|u)(_\d+)?\.(npy|safetensors|shard|index\.json|pt)")


def is_ours(name: str) -> bool:
    """True for the names that a layout gives to its files, and for the manifest."""
    return name == MANIFEST or _OURS.fullmatch(name) is not None


def remove(folder: Path) -> None:
    """Removes a cache; anything else in its folder stays, and is an OSError."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        if is_ours(path.name):
            path.unlink()
    folder.rmdir()
