"""A digest of the user's code: what was tried counts as long as it stays the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from diagnostics.bisection.case import Source
from diagnostics.bisection.place import TRIES

MOST_FILES = 3000
LEFT_OUT = {"__pycache__", "node_modules", "site-packages", "reports"}


def source_stamp(sources: Iterable[Source], folder: Path) -> str:
    """Returns a digest of the Python files below `folder` and of each file that a source names."""
    digest = hashlib.sha256()
    named = sorted({path for source in sources for path in _named(source)})
    for path in [*named, *_python_files(folder)]:
        try:
            content = path.read_bytes()
        except OSError:  # gone meanwhile, or not to be read: nothing of it can have been run
            continue
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _named(source: Source) -> Iterator[Path]:
    words = [source.factory.rpartition(":")[0], source.inputs.rpartition(":")[0], *source.adapter]
    yield from (Path(word).absolute() for word in words if word and Path(word).is_file())


def _python_files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for inside, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        if TRIES in names:  # a bisection's own folder, with the script that it wrote
            folders.clear()
            continue
        found += [Path(inside) / name for name in sorted(names) if name.endswith(".py")]
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]
