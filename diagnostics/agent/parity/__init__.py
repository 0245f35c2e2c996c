"""Records what each rank of a parity experiment computes, or feeds one process with what all ranks were given.

Only where $UPS_DOCTOR_PARITY names a plan: such a run is no training. It takes a few optimizer steps, writes batches,
gradients and parameters below the plan's folder, and is ended. What the files hold is told in `writing.py`, and read
by children/parity/.
"""

from __future__ import annotations

import json
import os
from _thread import get_ident

PLAN_VARIABLE = "UPS_DOCTOR_PARITY"


def watch(agent):
    """Starts recording in this process; torch is imported."""
    from .hooks import place_hooks
    from .session import Session

    with open(os.environ[PLAN_VARIABLE], encoding="utf-8") as file:
        plan = json.load(file)
    session = Session(plan)
    agent.at_fork.append(session.forked)
    agent.parity = session
    place_hooks(session, lambda: _is_inside(agent.modules.threads))


def _is_inside(threads):
    stack = threads.get(get_ident())
    return stack is not None and stack.depth > 0


def told_first(session, others):
    """Returns what is told of outermost modules: the experiment, then who was told before."""

    def outermost(module, args, kwargs):
        session.guarded(session.called, module)
        others(module, args, kwargs)

    return outermost
