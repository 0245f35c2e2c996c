"""A tensor that backward needs was changed in place after forward saved it.

What it does: takes "modified by an inplace operation", reads the operation, shape and versions in it, and looks in the
forwards and functions that ran for the statement that changes such a tensor: `x += y`, `relu_`, `x[...] = `,
`inplace=True`, or an optimizer's step between two backward passes.

Why it matters: torch names the line of backward(). Under DDP a second forward copies rank 0's buffers over the ones
that the first forward saved, without any such statement.

Fix: write it out of place (x = x + y), clone first, or one forward and one backward a step.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.inplace_sites import changes
from diagnostics.dynamic.model.wrap_sites import forward_calls

CODE = "D603"
NAME = "tensor-changed-in-place"
CLASS = "inplace-under-ddp"
EXAMINES = AppliesTo.FAILED

CLEAR = 7  # score of a statement that fits by place and by what autograd says

CHANGED = re.compile(
    r"modified by an inplace operation: \[(?P<kind>[\w.]+) \[(?P<shape>[\d, ]*)\]\]"
    r"(?:, which is output \d+ of (?P<operation>\w+),)?"
    r"(?: is at version (?P<at>\d+); expected version (?P<expected>\d+))?"
    r"|(?P<bare>modified by an inplace operation)"
)


def match(job: Job) -> Match | None:
    """Returns the statement that changed the tensor."""
    tellers = match_text(job, CHANGED)
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    operation, shape = one.found["operation"] or "", one.found["shape"] or ""
    found = changes(job, one.process, operation)
    own = merged_locations(job, tellers)
    # Buffers are no result of an operation: a second forward of a wrapped model copies rank 0's over them.
    again = forward_calls(job, one.process)[1:] if not operation else ()
    best = found[0].score if found else 0
    lines = [change.location for change in found if change.score >= max(2, best - 1)]
    locations = distinct([*again[:1], *lines, *own]) if again and best < CLEAR else distinct([*lines, *own])
    clear = sum(change.score == best for change in found) == 1 and best >= CLEAR
    what = f"a tensor of shape [{shape}]" if shape else "a tensor"
    versions = f" (version {one.found['at']}, expected {one.found['expected']})" if one.found["at"] else ""
    by = f": {found[0].text} at {locations[0]}" if lines and locations[0] == found[0].location else ""
    by = by or (f"; the forward at {locations[0]} is the second one before backward" if again else "")
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} changed {what} that backward needs in place{versions}{by}",
        evidence=(
            *one.evidence(job),
            *(
                Evidence(source=change.location, observed=change.text)
                for change in found[:4]
                if change.location in lines
            ),
        ),
        fix=_fix(found[0].text if lines else "", bool(again) and best < CLEAR),
        locations=locations,
        confidence=Confidence.CONFIRMED if clear else Confidence.LIKELY if lines or again else Confidence.POSSIBLE,
    )


def _fix(text: str, again: bool) -> Fix:
    if again:
        return Fix(text="put both inputs through one forward (torch.cat), or DistributedDataParallel(model, "
                   "broadcast_buffers=False)")  # fmt: skip
    if ".step(" in text:
        return Fix(text="call every backward() before optimizer.step(), or compute the second loss after it")
    return Fix(
        text=f"write it out of place or on a clone: {text or 'x = x + y in place of x += y'}; "
        "torch.autograd.set_detect_anomaly(True) names the forward line that saved the tensor"
    )
