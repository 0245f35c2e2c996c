"""Why torch could not load a file, in a few words."""

from __future__ import annotations

import pickle
from pathlib import Path

LONGEST = 160


def torch_reason(error: Exception) -> str:
    """Returns the first line of what torch said.

    For a file that it refuses to unpickle torch advises to load it unsafely; that advice is not passed on.
    """
    if isinstance(error, pickle.UnpicklingError):
        return "it holds something else than tensors in plain containers, or torch.save did not write it"
    return (str(error).splitlines() or [type(error).__name__])[0][:LONGEST]


def begins_as_saved(path: Path) -> bool:
    """Whether a file begins as those of torch.save, or is empty, as one that was cut off: it may be a damaged one."""
    try:
        with path.open("rb") as file:
            return file.read(2) in (b"", b"PK", b"\x80\x02")
    except OSError:
        return True
