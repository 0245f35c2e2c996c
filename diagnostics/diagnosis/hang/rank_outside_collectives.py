"""A rank stands somewhere else while the others wait for it, or while nothing moves at all.

What it does: where a job made no progress, names the ranks whose main thread was in no collective, the line of the
job's code at which they stand, and what they wait for there: an endless loop, a lock, a queue, a child process, a data
worker, a file, the network, a terminal. Follows the wait into children and data workers.

Why it matters: the timeout of a process group blames the rank that waited. The one that matters said nothing. One look
cannot tell for ever from slow: this is a guess, unless what was seen is proof by itself, as with a stopped process.

Fix: give the wait a limit or take it away, and see that what it waits for can come.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.divergence.held_exceptions import held_outside, held_text
from diagnostics.dynamic.divergence.localisation import explain_detour
from diagnostics.dynamic.job.evidence import names_of, path_evidence, stood_still
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.observations import observations_of
from diagnostics.dynamic.job.stack_classifier import classify
from diagnostics.dynamic.stall.background_work import hands_over
from diagnostics.dynamic.stall.lateness import lateness
from diagnostics.dynamic.stall.rank_activity import RankPosition, rank_positions
from diagnostics.dynamic.stall.stall_evidence import looks_evidence
from diagnostics.dynamic.stall.wait_cause import advice
from diagnostics.record.torch_messages import is_lost_peer

CODE = "D320"
NAME = "rank-outside-collectives"
CLASS = "rank-stalled"
EXAMINES = AppliesTo.ANY
MOST_OF_A_MESSAGE = 160
_KEPT = (
    ExceptionSource.CAUGHT,
    ExceptionSource.LOGGED,
    ExceptionSource.PRINTED,
    ExceptionSource.FORWARD,
    ExceptionSource.HELD,
    ExceptionSource.UNASKED,
    ExceptionSource.THREAD,
)
_VICTIMS = (Whereabouts.WAITING, Whereabouts.UNKNOWN)
SHOWN = 3  # ranks whose stacks are proof


def match(job: Job) -> Match | None:
    """Returns the ranks that stand outside of any collective; None where the job goes on or no stack tells."""
    stall = next((stall for stall in reversed(job.facts.stalls) if stall.over_s is None), None)
    if stall is None or not stood_still(job):
        return None
    ranks = rank_positions(job)
    outside = sorted((one for one in ranks if one.stand is Whereabouts.OUTSIDE), key=_strength)
    if not outside or not any(one.own for one in outside):
        return None
    processes = [one.process for one in outside]
    waiting = [one for one in ranks if one.stand is Whereabouts.WAITING]
    first = outside[0]
    lines = distinct([job.line(one.reason.frame) for one in outside if one.reason is not None and one.reason.frame])
    other = distinct([job.line(frame) for one in outside if one.reason is not None for frame in one.reason.frames])
    waited = distinct([job.line(one.own[0]) for one in waiting if one.own])
    led = _led(job, first, waiting)
    title, fix = _title(job, outside, waiting, waited), advice(first.reason, lines[0] if lines else "")
    held = held_outside(job, first.process, first.stack)
    if held is not None:
        lines = (job.line(held.user_path[0]), *lines)
        who, _, rest = title.partition(" stood")
        title = f"{who} {held_text(job, held)} stood{rest}"
        fix = f"mend what raised at {lines[0]}, and let nothing wait without end in a `finally` or the exit of a `with`"
    held_up: list[JobProcess] = []
    failed = _gave_up(job, first, waiting) if held is None else None
    if failed is not None:
        peer, raised = failed
        held_up, processes, lines = processes, [peer.process], (job.line(raised.user_path[0]), *lines)
        said = " ".join(raised.text.split())[:MOST_OF_A_MESSAGE]
        who = sentence(names_of(processes))
        title = f"{who} raised {said} at {lines[0]}, kept it to itself and went on; {title[:1].lower()}{title[1:]}"
        fix = f"mend what raised at {lines[0]}; let an error on one rank end all, or agree on it before others wait"
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=title,
        evidence=(
            Evidence(source="record/job.json: stalls", observed=f"no progress from {stall.began_s:.1f} s on"),
            *_late(job, first, stall.seen_s),
            *(one for standing in outside[:SHOWN] for one in _proof(job, standing)),
            *led,
            *(one for standing in waiting[:1] for one in _proof(job, standing)),
        ),
        fix=Fix(text=fix),
        locations=distinct([*lines, *other[:2], *(one.source for one in led), *waited, *other[2:]]),
        confidence=Confidence.CONFIRMED if all(_is_proof(one) for one in outside) else Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        began_s=stall.began_s,
        generic=True,
        victims=[*(one.process for one in ranks if one.stand in _VICTIMS and one.process not in processes), *held_up],
    )


def _gave_up(
    job: Job, standing: RankPosition, waiting: Sequence[RankPosition]
) -> tuple[RankPosition, ExceptionRecord] | None:
    """Returns a waiting rank that raised in a function in which the other one still stands, and went on.

    What that one waits for was to be done there, or by a thread that is started there: it is the failure, and the wait
    its consequence. A function in which the peer still is says nothing: both are in main().
    """
    for peer in waiting:
        still = {(frame.file, frame.function) for frame in peer.own}
        left = [
            frame
            for frame in standing.own
            if frame.function != "<module>" and (frame.file, frame.function) not in still
        ]
        stands_in = {(frame.file, frame.function) for frame in left}
        for raised in reversed(peer.process.raised):
            if raised.how not in _KEPT or not raised.user_path or is_lost_peer(raised.text):
                continue
            inside = any((frame.file, frame.function) in stands_in for frame in raised.user_path)
            if inside or any(hands_over(job, frame, raised.user_path[-1]) for frame in left):
                return peer, raised
    return None


def _strength(standing: RankPosition) -> tuple[bool, bool, int]:
    """Sorts what is proof before what is not, what has a line of its own before what has none, then by rank."""
    return not _is_proof(standing), not standing.own, standing.process.rank or 0


def _is_proof(standing: RankPosition) -> bool:
    return standing.reason is not None and standing.reason.proof


def _title(job: Job, outside: Sequence[RankPosition], waiting: Sequence[RankPosition], waited: Sequence[str]) -> str:
    first = outside[0].reason
    place = f" at {job.line(outside[0].own[0])}" if outside[0].own else ""
    text = first.text if first is not None else "came no further"
    others = outside[1:]
    same = [one for one in others if one.reason is not None and first is not None and one.reason.text == first.text]
    who = names_of([outside[0].process, *(one.process for one in same)])
    title = f"{sentence(who)} stood{place}: it {text}" if not same else f"{sentence(who)} stood{place}: each {text}"
    rest = [one for one in others if one not in same and one.reason is not None and one.own]
    title += "".join(f"; {names_of([one.process])} at {job.line(one.own[0])}" for one in rest[:2])
    if waiting:
        ops = distinct([classify(one.stack, one.process.agent_folder).op for one in waiting])
        call = f"in {ops[0]} at {waited[0]}" if len(ops) == len(waited) == 1 else f"at {', '.join(waited[:2])}"
        title += f"; {names_of([one.process for one in waiting])} waited {call if waited else 'in a collective'}"
    return title


def _led(job: Job, standing: RankPosition, waiting: Sequence[RankPosition]) -> tuple[Evidence, ...]:
    """Returns the statement at which the ways parted as proof, () where nothing stands out."""
    if not waiting:
        return ()
    peer = waiting[0]
    decision = explain_detour(job, standing.process, standing.stack, peer.process, peer.stack)
    if decision is None:
        return ()
    why = f"; differs by {decision.tainted_by}" if decision.tainted_by else ""
    who, other = names_of([standing.process]), names_of([peer.process])
    return (
        Evidence(
            source=job.line(decision.frame), observed=f"{decision.text}  ({who} came by here, {other} did not{why})"
        ),
    )


def _late(job: Job, standing: RankPosition, seen_s: float) -> tuple[Evidence, ...]:
    last = observations_of(job, standing.process).last
    late = lateness(job, standing.process, standing.own, max(seen_s, last.at_s if last is not None else 0.0))
    if late is None:
        return ()
    return (Evidence(source=f"record of {names_of([standing.process])}", observed=late.words),)


def _proof(job: Job, standing: RankPosition) -> tuple[Evidence, ...]:
    who = names_of([standing.process])
    return (
        *path_evidence(job, f"stack of {who}", standing.stack),
        *(looks_evidence(job, standing.process, who) if standing.reason is not None else ()),
    )
