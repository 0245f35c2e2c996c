"""Makes this process the parent of every orphan below it."""

from __future__ import annotations

import ctypes

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans(*, wanted: bool = True) -> bool:
    """Returns whether the kernel agreed; processes already orphaned elsewhere stay there."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
