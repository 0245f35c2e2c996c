"""Optimizers whose state was read back: what tells a run that goes on from one that begins."""

from __future__ import annotations

import sys

from ..imports import when_imported
from ..patching import wrap_method

MODULE = "torch.optim.optimizer"
KIND = "optimizer-restored"


def watch(agent):
    """Watches load_state_dict of every optimizer; the value is for how many parameters it now holds a state."""

    def restored(frame, result, args, kwargs):
        agent.event(KIND, type(args[0]).__name__, value=len(args[0].state), frame=frame)

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Optimizer, "load_state_dict", after=restored))
