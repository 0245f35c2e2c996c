"""A process has no file descriptor left.

What it does: takes "Too many open files" and the texts that hide it ("Failed to init uv loop", "received 0 items of
ancdata"), with the limit the job ran under and the line that sets it or that opens the last file.

Why it matters: which call fails is chance: a store, a data worker, a checkpoint. Tensors that data workers send cost a
descriptor each.

Fix: raise `ulimit -n`, close what is opened, or torch.multiprocessing.set_sharing_strategy("file_system").
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import failed_processes, match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.launch_settings import lines_with

CODE = "D111"
NAME = "descriptors-exhausted"
CLASS = "fd-exhaustion"
EXAMINES = AppliesTo.FAILED
AMPLE = 65536

EXHAUSTED = re.compile(r"Too many open files|\[Errno 2[34]\]|(?P<hidden>Failed to init uv loop|items of ancdata)")
LIMITS = re.compile(
    r"\bulimit\s+(?:-[SH]{1,2}\s{0,9})?-?[SH]{0,2}n\s+[\"']?(?:\d+|\$[{\w])|RLIMIT_NOFILE|LimitNOFILE"
    r"|--ulimit[ =]nofile|prlimit\b.{0,200}nofile"
)


def match(job: Job) -> Match | None:
    """Returns who ran out, under which limit, and the line that set it or used the last one."""
    tellers = match_text(job, EXHAUSTED) or match_text(job, EXHAUSTED, failed_processes(job))
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    limit = job.facts.limits.get("nofile")
    lowered = [line.location for line in lines_with(job, LIMITS) if "getrlimit" not in line.text]
    own = merged_locations(job, tellers)
    shown = f"{limit} descriptors" if limit is not None and limit >= 0 else "the limit of this shell"
    set_by = f", set at {lowered[0]}" if lowered else ""
    hidden = f" ({one.found[0]!r} is how torch says it)" if one.found["hidden"] else ""
    sure = not one.found["hidden"] or bool(lowered) or (limit is not None and 0 <= limit < 1024)
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} ran out of file descriptors; "
        f"the job started with {shown}{set_by}{hidden}",
        evidence=(
            *one.evidence(job),
            *((Evidence(source="ulimit -n", observed=str(limit), expected=f"{AMPLE}"),) if limit is not None else ()),
        ),
        fix=Fix(
            text="close files that are no longer needed and keep no file open per sample; raise the limit; for tensors "
            'from data workers torch.multiprocessing.set_sharing_strategy("file_system")',
            commands=(f"ulimit -n {AMPLE}", "ls /proc/PID/fd | wc -l"),
        ),
        locations=distinct([*lowered, *own]),
        confidence=Confidence.CONFIRMED if sure else Confidence.LIKELY,
    )
