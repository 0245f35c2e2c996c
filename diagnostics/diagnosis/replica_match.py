"""Builds the Match of ranks whose models drift apart: the first parameter, since when, who is odd, and the proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct, shown_ranks
from diagnostics.diagnosis.match_building import Said, unfailed
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.replicas import Replicas
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.dynamic.replicas.synchronisation import Unsynchronised
from diagnostics.dynamic.replicas.tables import gradient_table, value_table


def others_of(found: Replicas, tensors: Sequence[int]) -> str:
    """Returns "0.weight and 3 more parameters", in the words of a title."""
    more = len(tensors) - 1
    return found.model.names[tensors[0]] + (f" and {more} more parameter{'s' if more > 1 else ''}" if more else "")


def not_averaged(
    job: Job,
    gap: Unsynchronised,
    *,
    code: str,
    name: str,
    why: str,
    fix: str,
    places: Sequence[Frame],
    confidence: Confidence = Confidence.CONFIRMED,
) -> Match:
    """Returns the match about gradients that ranks kept to themselves; `why` follows "since"."""
    found, first = gap.found, gap.first
    at = shown_ranks(found.ranks)
    if not gap.measured:
        return _exchange_nothing(job, gap, code=code, name=name, why=why, fix=fix, places=places, confidence=confidence)
    title = (
        f"The models of {at} drift apart: {others_of(found, gap.tensors)} differ{'s' if len(gap.tensors) == 1 else ''} "
        f"from step {gap.apart_from} on, since {why}"
    )
    return replica_match(
        job,
        found,
        code=code,
        name=name,
        failure_class="gradients-not-synchronised",
        title=title,
        evidence=[gradient_table(found, gap.step, first), value_table(found, gap.apart_from, first)],
        fix=fix,
        places=places,
        confidence=confidence if gap.sure else Confidence.LIKELY,
    )


def _exchange_nothing(
    job: Job,
    gap: Unsynchronised,
    *,
    code: str,
    name: str,
    why: str,
    fix: str,
    places: Sequence[Frame],
    confidence: Confidence,
) -> Match:
    """Returns the match about gradients on a device: nothing went between the ranks while they made steps."""
    found = gap.found
    rows = [
        f"before step {step}  " + ", ".join(f"rank {rank}: {look.number}" for rank, look in found.looks[step].items())
        for step in (found.steps[0], found.steps[-1])
    ]
    return replica_match(
        job,
        found,
        code=code,
        name=name,
        failure_class="gradients-not-synchronised",
        title=f"The gradients of {shown_ranks(found.ranks)} are not averaged, {others_of(found, gap.tensors)}, "
        f"since {why}",
        evidence=[
            Evidence(
                source="operations of the process group, all of them barriers and sums of a few numbers",
                observed="\n".join(rows),
                expected="one or more in each step, with the gradients",
            )
        ],
        fix=fix,
        places=places,
        confidence=confidence if gap.sure else Confidence.LIKELY,
    )


def replica_match(
    job: Job,
    found: Replicas,
    *,
    fix: str,
    places: Sequence[Frame],
    odd: Sequence[int] = (),
    **said: Unpack[Said],
) -> Match:
    """Returns the match about ranks that hold replicas; `odd` are those that differ from most, by default all."""
    first = found.processes[0]
    # Where the model was made to be trained and where it is: a reader may find the cause at either.
    around = (*own(first, found.model.made)[:1], *own(first, found.model.stepped)[:1])
    steps = ", ".join(map(str, found.steps))
    sampled = Evidence(
        source="record/agents: samples of parameters and gradients",
        observed=f"{len(found.tensors)} of {len(found.model.names)} parameters of {found.model.class_name}, "
        f"before steps {steps}",
    )
    said["evidence"] = [*said["evidence"], *(source_evidence(job, places[0]) if places else ()), sampled]
    return unfailed(
        job,
        [process for process in found.processes if not odd or process.rank in odd],
        outcome=JobOutcome.SILENT_WRONG,
        fix=fix,
        locations=distinct([job.line(frame) for frame in (*places, *around)]),
        **said,
    )
