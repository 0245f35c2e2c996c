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
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import events_of
from diagnostics.static.program.open_writes import loops_at, writes_at

CODE = "D403"
NAME = "write-cut-off"
CLASS = "masked-exit"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the first thread that was cut off while it wrote."""
    for process in job.ranks:
        for event in events_of(process, "cut-off"):
            own = user_frames(event.path, agent_folder=process.agent_folder)
            at = next((one for one in own if writes_at(job.sources.file(one.file), one.line)), None)
            if at is not None and not any(loops_at(job.sources.file(one.file), one.line) for one in own):
                return _told(job, process, event.text, job.line(at))
    return None


def _told(job: Job, process: JobProcess, started: str, at: str) -> Match:
    file, _, line = started.rpartition(":")
    begun = job.line(Frame(file=file, line=int(line) if line.isdigit() else 0, function=""))
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
