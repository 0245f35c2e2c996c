"""A daemon thread was writing a file when its process ended: what it wrote is not whole.

What it does: where the job says 0, takes the daemon threads that the interpreter cut off, and names the line that
started one that stood in a `with open(..., "w")` or a save. Loops that write for ever (heartbeats, logs) are left
alone.

Why it matters: a checkpoint that is saved in the background is announced and never there, or cut short.

Bad:

    threading.Thread(target=write, args=(path, data), daemon=True).start()

Good:

    writer = threading.Thread(target=write, args=(path, data))
    writer.start()
    ...
    writer.join()  # before the job says that it is done
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.cut_off_writes import cut_off_write
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job

CODE = "D705"
NAME = "write-cut-off"
CLASS = "masked-exit"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the first thread that was cut off while it wrote."""
    found = ((process, cut_off_write(job, process)) for process in job.ranks)
    process, cut = next(((one, cut) for one, cut in found if cut is not None), (None, None))
    if process is None or cut is None:
        return None
    begun, at = (job.line(frame) for frame in cut)
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} ended while a daemon thread of it wrote at {at}: the file is not whole",
        evidence=(
            Evidence(source=at, observed="a daemon thread stood here when the interpreter ended", expected="ended"),
            Evidence(source=begun, observed="started the thread"),
        ),
        fix=Fix(text=f"keep the thread that {begun} starts and join() it before the process ends; or daemon=False"),
        locations=distinct([begun, at]),
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.SILENT_WRONG,
    )
