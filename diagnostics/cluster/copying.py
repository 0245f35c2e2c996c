"""Copies files into a shared folder in a process of its own: `python -P -m diagnostics.cluster.copying FROM TO`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

MOST_BYTES = 256 << 20  # of one host; reports come first, captures last
FIRST = ("host.json", "report.json", "report.md")


def copy(source: Path, target: Path) -> None:
    """Copies a folder's regular files, whole or not at all, until `MOST_BYTES` are full. Raises OSError."""
    target.mkdir(parents=True, exist_ok=True)
    files = [path for path in source.rglob("*") if path.is_file() and not path.is_symlink()]
    left = MOST_BYTES
    for path in sorted(files, key=lambda one: (one.name not in FIRST, "captures" in one.parts, str(one))):
        size = path.stat().st_size
        if size > left:
            continue
        left -= size
        made = target / path.relative_to(source)
        made.parent.mkdir(parents=True, exist_ok=True)
        part = made.with_name(f".{made.name}.{os.getpid()}.part")
        shutil.copyfile(path, part)
        part.replace(made)


if __name__ == "__main__":
    try:
        copy(Path(sys.argv[1]), Path(sys.argv[2]))
    except OSError as error:
        sys.exit(f"{error.strerror or error}: {error.filename or ''}")
