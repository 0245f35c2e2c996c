"""Exceptions that are on their way out of a rank that waits: in a `finally`, the exit of a `with`, at exit. Pure.

Nobody sees such an exception while the wait lasts. It is the beginning of what went wrong, and the wait a consequence.
A handler (`except`) is another matter: there the program has decided to go on.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import RankState, Whereabouts
from diagnostics.dynamic.divergence.divergence import DivergenceQuery
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess
from diagnostics.record.torch_messages import is_lost_peer
from diagnostics.static.program.unwinding import unwinds

MOST_OF_A_MESSAGE = 160
_CLOCKS_S = 0.05  # between the times of one process that are told by two of its areas


def held_by(job: Job, one: RankState) -> ExceptionRecord | None:
    """Returns the exception with which a waiting rank is on its way out, None where there is none.

    It has raised it and not yet let it out, or ended of it and waits for its threads: its launcher sees nothing of it.
    """
    process = job.of_rank(one.rank)
    wait = one.wait
    if process is not None and one.stand is Whereabouts.LEAVING:
        return ended_by(process)
    if process is None or wait is None or one.stand is not Whereabouts.WAITING:
        return None
    for raised in reversed(process.raised):
        if raised.at_s > wait.since_s + _CLOCKS_S or not raised.user_path or is_lost_peer(raised.text):
            continue
        if raised.how is ExceptionSource.UNCAUGHT:
            return raised
        if raised.how is ExceptionSource.HELD and unwinds(job.sources, raised.path, wait.path or one.stack):
            return raised
    return None


def ended_by(process: JobProcess) -> ExceptionRecord | None:
    """Returns the exception that ended the program of a process whose threads keep it alive, None for no such."""
    told = (each for each in reversed(process.raised) if each.how is ExceptionSource.UNCAUGHT and each.user_path)
    return next((each for each in told if not is_lost_peer(each.text)), None)


def held_outside(job: Job, process: JobProcess, stack: Sequence[Frame]) -> ExceptionRecord | None:
    """Returns the exception that a rank has raised and not yet let out where it stands, outside of any operation."""
    for raised in reversed(process.raised):
        told = raised.how is ExceptionSource.HELD and raised.user_path and not is_lost_peer(raised.text)
        if told and unwinds(job.sources, raised.path, stack):
            return raised
    return None


def held_text(job: Job, raised: ExceptionRecord) -> str:
    """Returns "raised ValueError: no such row at data.py:12, of which nobody is told while it"."""
    return f"raised {_short(raised)} at {job.line(raised.user_path[0])}, of which nobody is told while it"


def caught_text(job: Job, rank: int, parting: DivergenceQuery) -> str:
    """Returns "caught ValueError: no such row and " of what a rank caught last before the ways parted, else ""."""
    process = job.of_rank(rank)
    for raised in reversed(process.raised if process is not None else ()):
        if raised.path in parting.caught:
            return f"caught {_short(raised)} and "
    return ""


def _short(raised: ExceptionRecord) -> str:
    said = " ".join(raised.text.split())
    return said if len(said) <= MOST_OF_A_MESSAGE else f"{said[:MOST_OF_A_MESSAGE]}..."
