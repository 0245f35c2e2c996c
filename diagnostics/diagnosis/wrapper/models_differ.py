"""The ranks built different models.

What it does: takes DDP's check of parameters, compares what the constructors of the ranks were seen to make, and else
follows the rank through the source to the line where it comes into a constructor's arguments.

Why it matters: DDP names its own constructor call; and sizes that differ without a check are a hang or wrong gradients.

Fix: build the model from the same values on every rank; let rank 0 broadcast what is computed from data.
"""

from __future__ import annotations

import dataclasses
import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, failed_processes, match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of, rank_numbers
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_divergence import ModelDivergence, model_difference

CODE = "D602"
NAME = "models-differ"
CLASS = "parameter-mismatch"
EXAMINES = AppliesTo.FAILED

DIFFER = re.compile(
    r"(?:\[(?P<rank>\d+)\]: )?params\[(?P<index>\d+)\] in this process with (?:sizes|strides) "
    r"(?P<sizes>\[[\d, ]*\]) appears not to match (?:sizes|strides)"
    r"|Rank (?P<one>\d+) has (?P<has>\d+) params, while rank (?P<other>\d+) has inconsistent (?P<had>\d+) params"
    r"|(?P<verify>DDP expects same model across all ranks(?!, but))"
)


def match(job: Job) -> Match | None:
    """Returns the rank whose model differs and the line by which it does."""
    tellers = match_text(job, DIFFER) or match_text(job, DIFFER, failed_processes(job))
    if not tellers:
        return None
    one = next((teller for teller in tellers if teller.found["rank"]), tellers[0])
    pair = _pair(job, one)
    found = model_difference(job, *pair) if pair is not None else ModelDivergence(locations=(), made="", odd=None)
    odd = _odd(one, found)
    match = blamed(
        job,
        [teller.process for teller in tellers],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(job, one, found),
        evidence=(
            *one.evidence(job),
            *((Evidence(source="constructors seen by the agents", observed=found.made),) if found.made else ()),
        ),
        fix=Fix(
            text="build the model from values that are the same on every rank: compute what depends on data or the "
            "rank on rank 0 and dist.broadcast_object_list it before the model is made"
        ),
        locations=distinct([*found.locations, *merged_locations(job, tellers)]),
        confidence=Confidence.CONFIRMED if found.made else Confidence.LIKELY,
    )
    return dataclasses.replace(match, culprit_ranks=(odd,)) if odd is not None else match


def _pair(job: Job, one: TextMatch) -> tuple[JobProcess, JobProcess] | None:
    """The two ranks compared: torch names them, or it compares with rank 0."""
    mine = int(one.found["one"] or one.found["rank"] or one.process.rank or 0)
    theirs = int(one.found["other"] or 0)
    if mine == theirs:
        theirs = next((process.rank for process in job.ranks if process.rank not in (None, mine)), None) or 0
    first, second = job.of_rank(mine), job.of_rank(theirs)
    return (first, second) if first is not None and second is not None and first is not second else None


def _odd(one: TextMatch, found: ModelDivergence) -> int | None:
    if found.odd is not None:
        return found.odd
    return int(one.found["rank"]) if one.found["rank"] else one.process.rank


def _title(job: Job, one: TextMatch, found: ModelDivergence) -> str:
    at = f"; {found.locations[0]} depends on the rank" if found.locations else ""
    said = one.found
    if said["sizes"]:
        who = said["rank"] or (rank_numbers([one.process]) or ("?",))[0]
        return (
            f"Rank {who} built another model than rank 0: its parameter {said['index']} has sizes {said['sizes']}{at}"
        )
    if said["one"]:
        counts = f"rank {said['one']} {said['has']}, rank {said['other']} {said['had']}"
        return f"The ranks built models with different numbers of parameters: {counts}{at}"
    return f"The models of {names_of([one.process])} and the other ranks differ{at}"
