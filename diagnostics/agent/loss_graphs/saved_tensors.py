"""What a function of the graph saved for its backward, read without a hook of the program being called."""

from __future__ import annotations


def saved_by(node, name):
    """Returns what a node saved, None where a hook would have to be called for it, as that of a checkpoint."""
    raw = getattr(node, "_raw_saved_" + name, None)
    if raw is None:
        return getattr(node, "_saved_" + name, None)  # no tensor
    if getattr(raw, "unpack_hook", raw) is not None:
        return raw
    try:
        return raw.data
    except RuntimeError:  # freed
        return raw
