"""Why torch could not load a file, in a few words."""

from __future__ import annotations

import pickle

LONGEST = 160


def torch_reason(error: Exception) -> str:
    """Returns the first line of what torch said.

    For a file that it refuses to unpickle torch advises to load it unsafely; that advice is not passed on.
    """
    if isinstance(error, pickle.UnpicklingError):
        return "it holds something else than tensors in plain containers, or torch.save did not write it"
    return (str(error).splitlines() or [type(error).__name__])[0][:LONGEST]
