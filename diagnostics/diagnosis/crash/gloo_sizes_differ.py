"""Ranks called the same collective with tensors of different sizes, and gloo aborted.

What it does: knows gloo's "op.preamble.length <= op.nbytes. 72 vs 8", which comes without a Python stack, and compares
what each rank recorded under the same number of the same group: operation, shape, type; names the lines of both.
Where no such pair is known (one was DDP's own, say), names the line at which the ways of the ranks parted.

Why it matters: the rank that aborts is the one with the smaller tensor, which need not be wrong; its peer only says
"Connection reset by peer". DDP compares the shapes of parameters, not their types: float64 on one rank ends here too.

Fix: make the tensors equal on all ranks; gather sizes first where they differ by design.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence, shown_ranks
from diagnostics.diagnosis.agreement_fix import agreement_fix
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP
from diagnostics.dynamic.divergence.deadlock_diagnosis import DeadlockDiagnosis
from diagnostics.dynamic.divergence.ended_ranks import parted_before_abort
from diagnostics.dynamic.divergence.held_exceptions import held_text
from diagnostics.dynamic.divergence.rank_partition import user_stack
from diagnostics.dynamic.job import stack_classifier
from diagnostics.dynamic.job.evidence import end_evidence, path_evidence, rank_numbers, source_evidence, written_by
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_divergence import casts_by_rank, model_difference
from diagnostics.dynamic.model.wrap_sites import wrap_sites
from diagnostics.record.agent_data import CollectiveCall

CODE = "D290"
NAME = "gloo-sizes-differ"
CLASS = "collective-mismatch"
EXAMINES = AppliesTo.FAILED

MOST_SHOWN = 4
_ALIKE = Fix(text="let all ranks make the same operations: give each as many batches, or let them decide together")
_SIZES = re.compile(r"op\.preamble\.length <= op\.nbytes\. (\d+) vs (\d+)|distributed collective mismatch")


def match(job: Job) -> Match | None:
    """Returns the collective whose sizes differ, told by gloo in any rank's output."""
    told = [(process, found) for process in job.ranks if (found := _SIZES.search(_said(job, process)))]
    if not told:
        return None
    process, found = told[0]
    pair = next(_disagreeing(job), None)
    sizes = f"{found[1]} against {found[2]} bytes" if found[1] else "different sizes"
    parted = parted_before_abort(job, process) if pair is None or _stand_apart(*pair) else None
    if parted is not None and (pair is None or parted.decisions):
        return _ways_part(job, process, parted, sizes, found[0])
    if pair is None and _in_ddps_backward(job, process):
        return _gradients_differ(job, process, sizes, found[0])
    if pair is None:
        return blamed(
            job,
            [one for one, _ in told],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=f"Ranks handed {sizes} to one collective; gloo aborted rank {process.rank}",
            evidence=[end_evidence(process), Evidence(source=f"output of rank {process.rank}", observed=found[0])],
            fix=Fix(text="print op and shape before each collective on every rank, and make them equal"),
            locations=_last_lines(job, [one for one, _ in told]),
            confidence=Confidence.LIKELY,
            explains=[one.pid for one in job.ranks],
        )
    (one, first), (other, second) = pair
    lines = distinct([*_lines(job, one, first)[:1], *_lines(job, other, second)[:1], *_lines(job, one, first)[1:]])
    both = rank_numbers((one, other))
    return blamed(
        job,
        [one, other],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(shown_ranks(both))} disagree in collective {first.number} of group {first.group or '0'}: "
        f"rank {one.rank} {_call(first)}, rank {other.rank} {_call(second)}; gloo aborted ({sizes})",
        evidence=[
            Evidence(source=f"rank {one.rank}, collective {first.number}", observed=_call(first)),
            Evidence(
                source=f"rank {other.rank}, collective {second.number}", observed=_call(second), expected=_call(first)
            ),
            Evidence(source=f"output of rank {process.rank}", observed=found[0]),
        ],
        fix=Fix(text="hand tensors of one shape and type to the collective on all ranks; gather sizes first, then pad"),
        locations=lines,
        explains=[rank.pid for rank in job.ranks],
        began_s=min(first.entered_s, second.entered_s),
    )


def _stand_apart(one: tuple[JobProcess, CollectiveCall], other: tuple[JobProcess, CollectiveCall]) -> bool:
    """Whether two calls that met are the last of their ranks and stand in different lines."""
    latest = all(process.agent is not None and call is process.agent.collectives[-1] for process, call in (one, other))
    places = [[(frame.file, frame.line) for frame in call.path] for _, call in (one, other)]
    return latest and places[0] != places[1]


def _ways_part(job: Job, aborted: JobProcess, parted: DeadlockDiagnosis, sizes: str, said: str) -> Match:
    """The ranks came to different operations, which met in gloo: the statement that led them there is the fault."""
    places: dict[str, list[int]] = {}
    for one in parted.deadlock.positions:
        places.setdefault(next((job.line(frame) for frame in user_stack(job, one)), "an unknown place"), []).append(
            one.rank
        )
    told = ", ".join(f"{shown_ranks(tuple(ranks))} at {place}" for place, ranks in places.items())
    decided = parted.decisions[0] if parted.decisions else None
    why = f". Their ways part at {job.line(decided.frame)}: {decided.text}" if decided is not None else ""
    for one, raised in parted.held[:1]:
        why = f". {sentence(shown_ranks((one.rank,)))} {held_text(job, raised)} was there"
    return blamed(
        job,
        [one for one in job.ranks if one.rank in parted.culprits],
        code=CODE,
        name=NAME,
        failure_class=parted.failure_class,
        title=f"{sentence(told)} met in one collective with {sizes}; gloo aborted rank {aborted.rank}{why}",
        evidence=[
            end_evidence(aborted),
            Evidence(source=f"output of rank {aborted.rank}", observed=said),
            *(each for one in parted.decisions[:2] for each in source_evidence(job, one.frame)),
            *(
                each
                for one in parted.deadlock.positions[:MOST_SHOWN]
                for each in path_evidence(job, f"call path of rank {one.rank}", user_stack(job, one))
            ),
        ],
        fix=agreement_fix(job, decided if not parted.held else None, parted.deadlock.positions, _ALIKE),
        locations=parted.locations,
        confidence=Confidence.LIKELY,
        explains=[one.pid for one in job.ranks],
        began_s=parted.deadlock.began_s,
    )


def _in_ddps_backward(job: Job, process: JobProcess) -> bool:
    """Whether all ranks had wrapped their model, and the one that aborted stood in backward: DDP adds up there."""
    wrapped = all(one.agent is not None and one.agent.last_event("ddp") is not None for one in job.ranks)
    threads = process.fault.threads if process.fault is not None else ()
    return wrapped and any(
        stack_classifier.IN_BACKWARD.search(frame.file) for thread in threads for frame in thread.frames[:1]
    )


def _gradients_differ(job: Job, process: JobProcess, sizes: str, said: str) -> Match:
    """The gradients that DDP adds up are of different sizes: the models have different types, or differ otherwise."""
    other = next((one for one in job.ranks if one.rank != process.rank), process)
    wraps = [place.location(job) for place in wrap_sites(job, process)]
    lines = [*casts_by_rank(job, process), *model_difference(job, process, other).locations, *wraps]
    return blamed(
        job,
        job.ranks,
        code=CODE,
        name=NAME,
        failure_class="parameter-mismatch",
        title=f"DDP adds up gradients of {sizes} on different ranks: their models differ in type or shape",
        evidence=[end_evidence(process), Evidence(source=f"output of rank {process.rank}", observed=said)],
        fix=Fix(
            text="build the model alike on every rank, of one dtype; print sum(p.numel() * p.element_size()) there"
        ),
        locations=distinct(lines),
        confidence=Confidence.LIKELY,
        explains=[one.pid for one in job.ranks],
    )


def _said(job: Job, process: JobProcess) -> str:
    told = "\n".join(one.text for one in process.raised)
    return f"{told}\n{written_by(job, process)}"


def _disagreeing(
    job: Job,
) -> Iterator[tuple[tuple[JobProcess, CollectiveCall], tuple[JobProcess, CollectiveCall]]]:
    """Yields pairs of calls with the same number of the same group that do not fit together, the latest first."""
    for one, other in combinations(job.ranks, 2):
        calls = {(call.group, call.number): call for call in _numbered(other)}
        for call in reversed(_numbered(one)):
            partner = calls.get((call.group, call.number))
            if partner is not None and (call.op, call.shape, call.dtype) != (partner.op, partner.shape, partner.dtype):
                yield (one, call), (other, partner)


def _numbered(process: JobProcess) -> list[CollectiveCall]:
    """Returns the calls that have a number of their own in their group: new groups are made between two of them."""
    calls = process.agent.collectives if process.agent is not None else ()
    return [call for call in calls if call.number >= 0 and call.op != NEW_GROUP]


def _lines(job: Job, process: JobProcess, call: CollectiveCall) -> tuple[str, ...]:
    folder = process.agent_folder
    return distinct([job.line(frame) for frame in user_frames(call.path, agent_folder=folder)[:3]])


def _last_lines(job: Job, processes: list[JobProcess]) -> tuple[str, ...]:
    last = [(one, one.agent.collectives[-1]) for one in processes if one.agent is not None and one.agent.collectives]
    return distinct([line for one, call in last for line in _lines(job, one, call)[:1]])


def _call(call: CollectiveCall) -> str:
    return f"{call.op}({call.shape or '-'}, {call.dtype or '-'})"
