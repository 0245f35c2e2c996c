"""Waits of C++ code that no call from Python shows: DDP's reducer in a backward pass, FSDP, constructors. Pure.

The stack says that the main thread is in such code, the flight recorder which collective is not done, and that the
process uses no CPU says that it waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.collective_log import GroupCounts
from diagnostics.dynamic.collectives.rank_state import Wait, Waiting
from diagnostics.record.agent_data import AgentFile

# Innermost Python frames below which C++ makes or waits for collectives.
IN_BACKWARD = re.compile(r"/torch/autograd/(?:graph|__init__)\.py$")
_IN_TORCH = re.compile(
    r"/torch/(?:distributed/(?!elastic/|run\.py|launcher/)|nn/parallel/|_ops\.py$|nn/modules/(?:batchnorm|_functions)\.py$"
    r"|autograd/function\.py$|_tensor\.py$|utils/checkpoint\.py$)"
)
STALE_S = 5.0  # work that is not done for so long: where nobody looked at the CPU


def native_wait(
    agent: AgentFile, counts: GroupCounts, stack: Sequence[Frame], local_s: float, *, idle: bool | None
) -> Wait | None:
    """Returns what C++ code of the main thread waits for, None where it does not or nothing proves it.

    `since_s` is seconds of the wall clock.
    """
    if idle is False or not _may_be_inside(agent, stack):
        return None
    moment_ns = agent.started_ns + int(local_s * 1e9)
    pending = [entry for entry in counts.pending if entry.created_ns <= moment_ns]
    if not pending:
        return None
    entry = pending[0]
    if idle is None and moment_ns - pending[-1].created_ns < STALE_S * 1e9:
        return None
    return Wait(
        kind=Waiting.COLLECTIVE,
        op="",
        group=entry.group,
        ranks=counts.ranks(entry.group),
        slot=counts.slot(entry),
        path=tuple(stack),
        since_s=entry.created_ns / 1e9,
        native=True,
        timeout_s=entry.timeout_s,
        recorded=entry.shown,
    )


def _may_be_inside(agent: AgentFile, stack: Sequence[Frame]) -> bool:
    """Whether the main thread is in code of torch that may wait for ranks; by the agent where no stack is known."""
    own = [frame for frame in stack if not (agent.agent_folder and frame.file.startswith(agent.agent_folder))]
    if not own:
        return agent.steps.in_backward
    return bool(IN_BACKWARD.search(own[0].file) or _IN_TORCH.search(own[0].file))
