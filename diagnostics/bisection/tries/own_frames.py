"""What ranks left, without the frames of the doctor's own code, which records constructors and calls from between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.core.own_folders import AGENT, CHILDREN
from diagnostics.record.agent_data import AgentFile, Construction
from diagnostics.record.fault_stacks import FaultReport

OURS = (str(CHILDREN), str(AGENT))
_FOLDERS = tuple(f"{folder}/" for folder in OURS)


def agent_without_ours(agent: AgentFile) -> AgentFile:
    """Returns the agent's file with call paths that hold the user's and the libraries' frames only."""
    return replace(agent, constructions=tuple(_construction(one) for one in agent.constructions))


def report_without_ours(report: FaultReport) -> FaultReport:
    """Returns the stacks of all threads without our frames."""
    threads = (replace(thread, frames=_told(thread.frames)) for thread in report.threads)
    return replace(report, threads=tuple(threads))


def _construction(one: Construction) -> Construction:
    path = _told(one.path)
    own = one.own
    if not own and path:  # where our constructor stood in for the class's own, whose frame is still there
        own = int(path[0].function.rpartition(".")[0].rpartition(".")[2] == one.class_name)
    return replace(one, path=path, own=own)


def _told(frames: Iterable[Frame]) -> tuple[Frame, ...]:
    return tuple(frame for frame in frames if not frame.file.startswith(_FOLDERS))
