"""Why torch could not load a file, in a few words."""

from __future__ import annotations

import pickle
from pathlib import Path

LONGEST = 160
_POINTER = b"version https://git-lfs.github.com/spec/"  # github.com/git-lfs/git-lfs, docs/spec.md


def torch_reason(error: Exception, path: Path | None = None) -> str:
    """Returns the first line of what torch said, or what is plainly wrong with the file.

    For a file that it refuses to unpickle torch advises to load it unsafely; that advice is not passed on.
    """
    plain = _plainly_wrong(path) if path is not None else ""
    if plain:
        return plain
    if isinstance(error, pickle.UnpicklingError):
        return "it holds something else than tensors in plain containers, or torch.save did not write it"
    return (str(error).splitlines() or [type(error).__name__])[0][:LONGEST]


def _plainly_wrong(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(len(_POINTER))
    except OSError:
        return ""
    if not head:
        return "it is empty"
    return "it is a pointer of Git LFS, whose content was not fetched: git lfs pull" if head == _POINTER else ""


def begins_as_saved(path: Path) -> bool:
    """Whether a file begins as those of torch.save, or is empty, as one that was cut off: it may be a damaged one."""
    try:
        with path.open("rb") as file:
            return file.read(2) in (b"", b"PK", b"\x80\x02")
    except OSError:
        return True
