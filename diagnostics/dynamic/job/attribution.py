"""Which ranks of a job failed by their own doing, and which only lost their peers. Pure.

No majority votes: two ranks are enough. What counts is who ended a rank, what it complained about, and in which order.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from diagnostics.core.wording import last_lines
from diagnostics.dynamic.job.job import ExceptionSource, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_list import words
from diagnostics.dynamic.job.rank_ends import SEARCHED_LINES
from diagnostics.record.torch_messages import FAILED_ON_RANK, LOST_PEER, is_lost_peer

ENDED_BY_OTHERS = ("doctor", "launcher")
_ENDING = (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN, ExceptionSource.OUTPUT)
# A refused connection of anything else, a database or a tracker, is the rank's own affair.
TORCH_ERRORS = re.compile(r"(?:^|\.)(?:RuntimeError|Dist\w*Error|Rendezvous\w*Error)$")
INTERRUPTED = re.compile(r"^(?:KeyboardInterrupt|(?:[\w.]+\.)?SignalException)\b")


def blame(processes: Sequence[JobProcess], output: str = "") -> tuple[tuple[JobProcess, ...], tuple[JobProcess, ...]]:
    """Returns (culprits, victims) among the ranks in `processes`; `output` is all that the job wrote."""
    ranks = _of_last_start([process for process in processes if process.part is ProcessRole.RANK])
    culprits = _culprits(ranks, output)
    chosen = {id(process) for process in culprits}
    victims = [process for process in ranks if process.failed and id(process) not in chosen]
    return tuple(culprits), tuple(victims) if culprits else ()


def lost_its_peer(process: JobProcess, output: str = "") -> bool:
    """Whether what it complained about, first of all, is a peer that went away or never answered.

    Such a rank may still abort: its interpreter shuts down while threads of the process group live.
    """
    if process.end.signal not in (None, signal.SIGABRT) and process.ended_by != "launcher":
        return False
    said = [one for one in process.raised if one.how in _ENDING]
    if said:
        return _is_of_torch(said[0].type) and is_lost_peer(said[0].text)
    written = last_lines(process.stderr or process.stdout, SEARCHED_LINES)
    if written:
        return is_lost_peer(written)
    return process.end.signal == signal.SIGABRT and "terminate called" in output and is_lost_peer(output)


def _is_of_torch(kind: str) -> bool:
    return bool(TORCH_ERRORS.search(kind))


def is_in_collective(process: JobProcess) -> bool:
    """Whether its last collective had not returned when its file was last written."""
    calls = process.agent.collectives if process.agent is not None else ()
    return bool(calls) and calls[-1].left_s is None


def _of_last_start(ranks: Sequence[JobProcess]) -> list[JobProcess]:
    """Returns them without those whose program was started again as the same rank."""
    last: dict[tuple[int | None, tuple[str, ...]], int] = {}
    for process in ranks:
        program = (process.rank, process.argv)
        last[program] = max(process.restart, last.get(program, 0))
    return [process for process in ranks if process.restart >= last[process.rank, process.argv]]


def _culprits(ranks: Sequence[JobProcess], output: str) -> list[JobProcess]:
    failed = [process for process in ranks if process.failed]
    own = [process for process in failed if _failed_by_itself(process) and not _was_interrupted(process, failed)]
    acted = [process for process in own if not lost_its_peer(process, output)]
    if acted:
        acted = _where_it_failed(ranks, acted)
        acted = [process for process in acted if not _ended_itself_for_another(process, acted)]
        return [process for process in acted if not _also_lost_a_peer(process)] or acted
    if own:
        return _left_early(ranks, own) or _laggards(ranks, own) or own
    return []


def _where_it_failed(ranks: Sequence[JobProcess], acted: Sequence[JobProcess]) -> list[JobProcess]:
    """Returns them with the ranks that failed in place of those that they only told of it: these raise it as well."""
    found: list[JobProcess] = []
    for process in acted:
        text = process.uncaught.message if process.uncaught is not None else ""
        told_of = {int(rank) for rank in FAILED_ON_RANK.findall(text)}
        tellers = [rank for rank in ranks if rank.rank in told_of]
        found += [process] if process.rank in told_of or not tellers else tellers
    return list({id(process): process for process in found}.values())


def _ended_itself_for_another(process: JobProcess, failed: Sequence[JobProcess]) -> bool:
    """Whether it sent itself the signal that ended it when another rank had failed, as Lightning's rank 0 does."""
    events = process.agent.events if process.agent is not None and process.end.signal is not None else ()
    own = {"pid": str(process.pid), "signal": str(process.end.signal)}
    itself = any(own.items() <= words(event.text).items() for event in events if event.kind == "kill")
    ended = process.end.at_s
    return itself and any(
        one is not process and one.end.at_s is not None and ended is not None and one.end.at_s < ended for one in failed
    )


def _failed_by_itself(process: JobProcess) -> bool:
    """Whether nobody ended it, or an exception had ended its program before the launcher's signal came."""
    if process.ended_by not in ENDED_BY_OTHERS:
        return True
    ending = process.uncaught
    return process.ended_by == "launcher" and ending is not None and not INTERRUPTED.match(ending.text)


def _was_interrupted(process: JobProcess, failed: Sequence[JobProcess]) -> bool:
    """Whether it only answered its launcher's signal with an exception, while another one had failed."""
    ending = process.uncaught
    return ending is not None and len(failed) > 1 and bool(INTERRUPTED.match(ending.text))


def _also_lost_a_peer(process: JobProcess) -> bool:
    """Whether a lost peer is part of its last chain of exceptions: another rank's failure may have begun it."""
    said = [one for one in process.raised if one.how in _ENDING]
    return any(is_lost_peer(one.text) for one in said[1:]) and bool(LOST_PEER.search(said[-1].text))


def _left_early(ranks: Sequence[JobProcess], lost: Sequence[JobProcess]) -> list[JobProcess]:
    """Returns the ranks that ended well before the others lost them: a return or exit on some ranks only."""
    first = min((process.end.at_s for process in lost if process.end.at_s is not None), default=None)
    if first is None:
        return []
    return [
        process
        for process in ranks
        if not process.failed
        and process.end.exit_code == 0
        and process.end.at_s is not None
        and process.end.at_s <= first
    ]


def _laggards(ranks: Sequence[JobProcess], lost: Sequence[JobProcess]) -> list[JobProcess]:
    """Returns the ranks that others waited for in vain: ended by their launcher, or by nobody, in no collective."""
    waited = {id(process) for process in lost}
    others = [process for process in ranks if id(process) not in waited and process.agent is not None]
    there = [process for process in others if process.ended_by in ENDED_BY_OTHERS]
    return [process for process in there if not is_in_collective(process)]
