"""The kernel's OOM killer ended a process of the job.

What it does: takes a SIGKILL that nobody in the job sent, and looks for its process in the kernel's log, in the OOM
counter of the job's control group, and in Slurm's message. Names the resident size and the lines that keep memory.

Why it matters: the process dies without a word, and its launcher calls it exitcode -9.

Fix: less memory (fewer workers, smaller batches, no kept graphs), or a larger limit.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, format_bytes, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.memory_limits import memory_limit, suspected_leaks
from diagnostics.dynamic.failures.native_crash import killed_without_trace, stood_at
from diagnostics.dynamic.job.evidence import end_evidence, ended_s, module_of, names_of, source_evidence
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole

CODE = "D220"
NAME = "oom-killer"
CLASS = "killed-by-oom-killer"
EXAMINES = AppliesTo.FAILED

_KILLED = re.compile(r"Killed process (\d+)\b.*?(?:anon-rss:(\d+)kB)?(?:,|$)")
_RSS = re.compile(r"anon-rss:(\d+)kB")
_SLURM = re.compile(r"Detected \d+ oom[-_]kill event|oom-kill event\(s\)|OUT_OF_MEMORY")


def match(job: Job) -> Match | None:
    """Returns the first process that the OOM killer ended."""
    killed = killed_without_trace(job)
    if not killed:
        return None
    named_by_kernel = {int(found[1]): line for line in job.facts.kernel_lines if (found := _KILLED.search(line))}
    by_name = [process for process in killed if process.pid in named_by_kernel]
    if by_name:
        first = min(by_name, key=ended_s)
        line = named_by_kernel[first.pid]
        return _match(job, first, Evidence(source="kernel log", observed=line), Confidence.CONFIRMED, _rss(line))
    if job.facts.oom_kills:
        told = Evidence(source="OOM kills of the job's control group", observed=str(job.facts.oom_kills), expected="0")
        alone = len(killed) <= job.facts.oom_kills
        return _match(job, min(killed, key=ended_s), told, Confidence.CONFIRMED if alone else Confidence.LIKELY, "")
    if slurm := _SLURM.search(job.output):
        told = Evidence(source="Slurm", observed=slurm[0])
        return _match(job, min(killed, key=ended_s), told, Confidence.LIKELY, "")
    return None


def _rss(line: str) -> str:
    found = _RSS.search(line)
    return format_bytes(int(found[1]) * 1024) if found else ""


def _match(job: Job, process: JobProcess, told: Evidence, confidence: Confidence, rss: str) -> Match:
    keeping = suspected_leaks(job, _rank_of(job, process))
    stood = stood_at(job, process)
    frame = keeping[0] if keeping else None
    locations = distinct([*(job.line(one) for one in keeping[:2]), *stood])
    who = sentence(names_of([process]))
    allowed = memory_limit(job, process)
    limit = f" of {format_bytes(allowed)}" if allowed else ""
    size = f" at {rss} resident" if rss else ""
    leak = f"; {job.line(frame)} keeps {frame.function} of every iteration" if frame is not None else ""
    advice = (
        f"keep a number, not the tensor: {frame.function}.item() or .detach() at {job.line(frame)}"
        if frame is not None
        else "use fewer data workers, a smaller batch or data that is read piece by piece; or give the job more memory"
    )
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{who} was killed by the kernel's OOM killer{size}: the memory{limit} was full{leak}",
        evidence=[told, end_evidence(process), *(source_evidence(job, frame) if frame is not None else ())],
        fix=Fix(text=advice, commands=("dmesg | grep -i 'killed process'",)),
        locations=locations,
        module=module_of(process),
        confidence=confidence,
    )


def _rank_of(job: Job, process: JobProcess) -> JobProcess:
    parent = job.of_pid(process.parent_pid)
    return parent if process.part is ProcessRole.DATA_WORKER and parent is not None else process
