"""Collectives completed although the ranks disagreed about them: the numbers they made are wrong.

What it does: of a job that ended well, compares what each rank called in each slot of each group (operation, elements,
type, root, reduction), and the rolling hashes over all its calls; names the first slot that differs and both lines.

Why it matters: gloo adds whatever bytes arrive. int64 on one rank and float64 on the other, or SUM against MAX, raise
nothing, hang nothing, and train on garbage.

Fix: make the calls alike on all ranks; fix the dtype and the operation where the tensor is made.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, shown_ranks
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.collectives.silent_mismatch import SilentMismatch, silent_disagreements
from diagnostics.dynamic.divergence.divergence import DivergencePoint, DivergenceQuery, PointKind, ProgramPoint
from diagnostics.dynamic.divergence.localisation import divergence_points
from diagnostics.dynamic.job.evidence import path_evidence, rank_numbers
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import CollectiveCall

CODE = "D540"
NAME = "collectives-mixed-up"
CLASS = "collective-mismatch"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the first disagreement, None where all completed collectives fit together as far as it is known."""
    found = sorted(silent_disagreements(job), key=_began)
    if not found:
        return None
    first = found[0]
    others = [one for one in found if (one.group, _slot(one)) == (first.group, _slot(first))]
    members = _members(job, first)
    # Alone against the others: the one that differs from the first rank, or the first rank itself.
    odd = [one.other for one in others]
    if len(odd) == members - 1:
        odd = [first.one, *odd] if members == 2 else [first.one]
    said = _decisions(job, first)
    lines = distinct([*(job.line(one.frame) for one in said), *_lines(job, first)])
    return Match(
        finding=Finding(
            code=CODE,
            name=NAME,
            severity=Severity.ERROR,
            title=_title(job, first),
            where=", ".join(filter(None, (shown_ranks(rank_numbers(odd)), *lines[:1]))),
            evidence=tuple(_evidence(job, first)),
            fix=Fix(text="let all ranks call the same operation with the same type, size, root and reduction there"),
            confidence=Confidence.CONFIRMED if first.call is not None and len(said) <= 1 else Confidence.LIKELY,
        ),
        failure_class=CLASS,
        outcome=JobOutcome.SILENT_WRONG,
        culprit_ranks=rank_numbers(odd),
        locations=lines,
        explains=(first.one.pid, first.other.pid),
        began_s=_began(first),
    )


def _members(job: Job, silent: SilentMismatch) -> int:
    agent = silent.one.agent
    return next((len(one.ranks) for one in agent.groups if one.group == silent.group), 0) if agent is not None else 0


def _began(silent: SilentMismatch) -> float:
    return silent.one.began_s + silent.call.entered_s if silent.call is not None else float("inf")


def _slot(silent: SilentMismatch) -> int | None:
    return silent.call.number if silent.call is not None else None


def _title(job: Job, silent: SilentMismatch) -> str:
    ranks = f"Rank {silent.one.rank} and rank {silent.other.rank}"
    if silent.call is None or silent.other_call is None:
        low, high = silent.between or (0, 0)
        return f"{ranks} made other calls in group {silent.group}, between its calls {low} and {high}, and none failed"
    at = [(process, call, _own(process, call)) for process, call in _both(silent)]
    told = ", ".join(
        f"rank {process.rank} {_shown(call)}{f' at {job.line(frames[0])}' if frames else ''}"
        for process, call, frames in at
    )
    place = f"operation {silent.call.number} of group {silent.group}"
    return f"{ranks} disagreed in {silent.what} in {place}, which completed all the same: {told}"


def _both(silent: SilentMismatch) -> list[tuple[JobProcess, CollectiveCall]]:
    pairs = ((silent.one, silent.call), (silent.other, silent.other_call))
    return [(process, call) for process, call in pairs if call is not None]


def _shown(call: CollectiveCall) -> str:
    root = "" if call.root is None else f"root {call.root}"
    return f"{call.op}({', '.join(filter(None, (call.shape, call.dtype, root)))})"


def _own(process: JobProcess, call: CollectiveCall) -> tuple[Frame, ...]:
    return user_frames(call.path, agent_folder=process.agent_folder)


def _lines(job: Job, silent: SilentMismatch) -> list[str]:
    return [job.line(frame) for process, call in _both(silent) for frame in _own(process, call)[:2]]


def _decisions(job: Job, silent: SilentMismatch) -> Sequence[DivergencePoint]:
    if silent.call is None or silent.other_call is None or silent.one.rank is None or silent.other.rank is None:
        return ()
    agreed = silent.agreed
    parting = DivergenceQuery(
        agreed=ProgramPoint(way=PointKind.CALL, op=agreed.op, path=agreed.path) if agreed is not None else None,
        here=(silent.other.rank,),
        here_at=ProgramPoint(way=PointKind.CALL, op=silent.other_call.op, path=silent.other_call.path),
        there=(silent.one.rank,),
        there_at=ProgramPoint(way=PointKind.CALL, op=silent.call.op, path=silent.call.path),
    )
    return divergence_points(job.sources, parting, job.agent_folders)


def _evidence(job: Job, silent: SilentMismatch) -> list[Evidence]:
    found = [
        Evidence(source=f"record/agents: rank {process.rank}, operation {call.number}", observed=_shown(call))
        for process, call in _both(silent)
    ]
    for process, call in _both(silent):
        found += path_evidence(job, f"call path of rank {process.rank}", _own(process, call))
    told = [
        f"rank {process.rank}: {one.calls} calls, {one.rolling_hash:016x}"
        for process in (silent.one, silent.other)
        for one in (process.agent.groups if process.agent is not None else ())
        if one.group == silent.group
    ]
    found.append(Evidence(source=f"rolling hashes of group {silent.group}", observed="; ".join(told), expected="equal"))
    return found
