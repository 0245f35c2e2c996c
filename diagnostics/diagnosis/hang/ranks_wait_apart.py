"""The ranks of a running job wait for each other at different calls.

What it does: where a job was looked at from outside and no agent is in it, reads from the names of torch's frames in
which call of torch.distributed each rank waits. Where they wait in different ones, or at different lines, or one is
through with its program, none of them will come; names those lines and the statement at which their ways part.

Why it matters: each rank looks healthy by itself, and the timeout of the process group comes after 10 to 30 minutes.
Stacks tell neither group nor sequence number, so this is likely and not proven.

Fix: move the call out of what only some ranks carry out, or let all ranks decide alike; `ups-doctor run` proves it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.divergence.divergence import DivergencePoint, DivergenceQuery, PointKind, ProgramPoint
from diagnostics.dynamic.divergence.localisation import divergence_points
from diagnostics.dynamic.job.evidence import names_of, path_evidence, source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.job.stack_classifier import classify
from diagnostics.dynamic.stall.rank_activity import RankPosition, rank_positions
from diagnostics.record.supervisor_facts import ATTACHED

CODE = "D318"
NAME = "ranks-wait-apart"
CLASS = "collective-mismatch"
MISSING = "collective-missing"  # where one rank is through with its program
EXAMINES = AppliesTo.ANY

Where = tuple[Whereabouts, str, object]


def match(job: Job) -> Match | None:
    """Returns which ranks wait where; None where an agent knows better, one rank is elsewhere, or all wait alike."""
    if (
        job.facts.ended_by != ATTACHED
        or not job.facts.stalls
        or any(process.agent is not None for process in job.ranks)
    ):
        return None
    ranks = rank_positions(job)
    if len(ranks) < 2 or any(one.stand not in (Whereabouts.WAITING, Whereabouts.LEAVING) for one in ranks):
        return None
    groups = _groups(ranks)
    waiting = [one for one in ranks if one.stand is Whereabouts.WAITING]
    if len(groups) < 2 or not waiting or not any(one.own for one in waiting):
        return None
    gone = tuple(one.process.rank for one in ranks if one.stand is Whereabouts.LEAVING and one.process.rank is not None)
    found = _decisions(job, list(groups.values()))
    lines = [job.line(one.frame) for one in found[:2]]
    lines += [job.line(group[0].own[0]) for group in groups.values() if group[0].own]
    return Match(
        finding=Finding(
            code=CODE,
            name=NAME,
            severity=Severity.ERROR,
            title=_title(job, list(groups.values()), found),
            where=distinct(lines)[0],
            evidence=tuple(_evidence(job, list(groups.values()), found)),
            fix=Fix(text=_advice(found, job)),
            confidence=Confidence.LIKELY,
        ),
        failure_class=MISSING if gone else CLASS,
        outcome=JobOutcome.HANG,
        culprit_ranks=gone,
        victim_ranks=tuple(one.process.rank for one in waiting if one.process.rank is not None) if gone else (),
        locations=distinct(lines),
        explains=tuple(one.process.pid for one in ranks),
        began_s=job.facts.stalls[-1].began_s,
        generic=True,
    )


def _groups(ranks: Sequence[RankPosition]) -> Mapping[Where, list[RankPosition]]:
    """Returns the ranks by what they wait in and the job's own lines above it."""
    found: dict[Where, list[RankPosition]] = {}
    for one in ranks:
        found.setdefault((one.stand, _op(one), one.own), []).append(one)
    return found


def _op(one: RankPosition) -> str:
    return classify(one.stack).op if one.stand is Whereabouts.WAITING else ""


def _decisions(job: Job, groups: Sequence[Sequence[RankPosition]]) -> tuple[DivergencePoint, ...]:
    """Returns where the ways of the two largest groups part."""
    there, here = sorted(groups, key=len, reverse=True)[:2]
    parting = DivergenceQuery(
        agreed=None, here=_ranks(here), here_at=_place(here[0]), there=_ranks(there), there_at=_place(there[0])
    )
    return divergence_points(job.sources, parting, job.agent_folders)


def _place(one: RankPosition) -> ProgramPoint:
    return ProgramPoint(
        way=PointKind.CALL if one.stand is Whereabouts.WAITING else PointKind.ENDED, op=_op(one), path=one.stack
    )


def _ranks(group: Sequence[RankPosition]) -> tuple[int, ...]:
    return tuple(one.process.rank for one in group if one.process.rank is not None)


def _title(job: Job, groups: Sequence[Sequence[RankPosition]], found: Sequence[DivergencePoint]) -> str:
    parts = []
    for group in groups:
        at = f" at {job.line(group[0].own[0])}" if group[0].own else ""
        through = "is through with its program" if len(group) == 1 else "are through with their program"
        waits = f"{'waits' if len(group) == 1 else 'wait'} in {_op(group[0])}{at}"
        parts.append(
            f"{names_of([one.process for one in group])} {waits if group[0].stand is Whereabouts.WAITING else through}"
        )
    parted = f". Their ways part at {job.line(found[0].frame)}: {found[0].text}" if found else ""
    return f"{sentence(', '.join(parts))}: they wait for each other{parted}"


def _evidence(job: Job, groups: Sequence[Sequence[RankPosition]], found: Sequence[DivergencePoint]) -> list[Evidence]:
    shown = [one for group in groups[:4] for one in path_evidence(job, f"stack of {_names(group)}", group[0].stack)]
    shown += [one for decision in found[:1] for one in source_evidence(job, decision.frame)]
    stall = job.facts.stalls[-1]
    looked = Evidence(source="looks from outside", observed=f"no rank ran for {stall.seen_s - stall.began_s:.1f} s")
    return [looked, *shown]


def _names(group: Sequence[RankPosition]) -> str:
    return names_of([one.process for one in group])


def _advice(found: Sequence[DivergencePoint], job: Job) -> str:
    if found:
        return f"{job.line(found[0].frame)}: let all ranks decide alike, or move the call out of it"
    return "let all ranks make the same calls in the same order; `ups-doctor run -- CMD` names the call they differ in"
