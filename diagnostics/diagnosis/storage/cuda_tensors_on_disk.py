"""A file holds CUDA tensors, and the process that reads it has no such device.

What it does: takes "Attempting to deserialize object on a CUDA device" and "Cannot re-initialize CUDA in forked
subprocess", with the file and the line that loads it.

Why it matters: torch.save keeps the device of each tensor. A cache written on a GPU fails on a machine without one,
puts every rank's tensors on GPU 0, or starts CUDA in forked data workers, which die without a message.

Fix: `ups-doctor fix-cache FOLDER` for files that are there; .cpu() before torch.save for those to come.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import match_text, merged_locations
from diagnostics.dynamic.failures.file_errors import calls_load, came_from_loading, file_in_error, saving_lines
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job

CODE = "D701"
NAME = "cuda-tensors-on-disk"
CLASS = "cuda-in-cache"
EXAMINES = AppliesTo.FAILED

ON_CUDA = re.compile(
    r"(?P<device>Attempting to deserialize object on (?:a )?CUDA device(?: (?P<number>\d+))?)"
    r"|don't know how to restore data location of [\w.]+ \(tagged with (?P<tag>cuda[\w:]*)\)"
    r"|(?P<forked>Cannot re-initialize CUDA in forked subprocess)"
)


def match(job: Job) -> Match | None:
    """Returns the file, who could not read it, and the line that loads it."""
    tellers = [
        one
        for one in match_text(job, ON_CUDA)
        # Started in a worker by something else, CUDA is no matter of files.
        if not one.found["forked"] or came_from_loading(one) or (one.origin and calls_load(job, one.origin.frame))
    ]
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    file = file_in_error(job, one)
    shown = file or "a file"
    gpus = f"{len(job.facts.gpus)} GPUs" if job.facts.gpus else "no GPU"
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} loaded {shown}, whose tensors were saved on a CUDA device; here is {gpus}",
        evidence=(*one.evidence(job), Evidence(source="this machine", observed=gpus)),
        fix=Fix(
            text='save tensors with .cpu(), or load with map_location="cpu"; files that are there can be repaired',
            commands=(f"ups-doctor fix-cache {file or 'FOLDER'}",),
        ),
        locations=distinct([*merged_locations(job, tellers), *saving_lines(job, one, file)[:2]]),
    )
