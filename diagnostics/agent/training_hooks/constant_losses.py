"""Backward passes of a loss to which another one was added as a number: what is left out of it has its graph still."""

from __future__ import annotations

import sys

from ..frame_values import variables_of
from ..frames import is_library
from ..loss_graphs.constant_terms import losses_beside, parts_behind
from .followed_losses import FollowedLosses

MOST_FRAMES = 4
MOST_NAMES = 200
MOST_TOLD = 8


class ConstantLosses(FollowedLosses):
    """Looks for losses in the lines around a backward pass that only a number of can have come into it."""

    what = "loss-constant"

    def found(self, root, loss):
        """Returns the names of such losses."""
        parts = parts_behind(root)
        names = _beside(parts) if parts is not None else ()
        return {"names": " ".join(names[:MOST_TOLD])} if names else None


def _beside(parts):
    frame, seen, names = sys._getframe(1), 0, []
    while frame is not None and seen < MOST_FRAMES:
        if not is_library(frame.f_code.co_filename):
            seen += 1
            names += losses_beside(variables_of(frame)[:MOST_NAMES], parts)
        frame = frame.f_back
    return list(dict.fromkeys(names))
