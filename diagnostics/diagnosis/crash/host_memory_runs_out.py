"""An allocation of host memory failed.

What it does: takes MemoryError, torch's DefaultCPUAllocator, std::bad_alloc and ENOMEM ("Cannot allocate memory", also
of a fork) to the allocating line, with the size asked for. Where that size is small, the line that keeps an object of
each iteration (read from the source) comes first.

Why it matters: the line that fails is often not the one that fills the memory.

Fix: keep numbers in place of tensors; smaller pieces; a higher limit (ulimit -v).
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, format_bytes, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.memory_limits import is_small_request, suspected_leaks
from diagnostics.dynamic.failures.native_crash import is_fault, native_crash
from diagnostics.dynamic.failures.root_exception import locations_of, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    module_of,
    names_of,
    path_evidence,
    primary_failures,
    source_evidence,
    written_by,
)
from diagnostics.dynamic.job.job import Job, JobProcess

CODE = "D230"
NAME = "host-memory-runs-out"
CLASS = "host-oom"
EXAMINES = AppliesTo.FAILED

_TEXT = re.compile(
    r"^(?:\w+\.)*_?(?:Array)?MemoryError\b|DefaultCPUAllocator: (?:can't allocate|not enough) memory"
    r"|not enough memory: you tried to allocate|std::bad_alloc|Cannot allocate memory|\[enforce fail at alloc_cpu"
)
_NOT_HOST = re.compile(r"CUDA|HIP out of memory|shm|No space left")
_BYTES = re.compile(r"you tried to allocate (\d+) bytes")
_NUMPY = re.compile(r"Unable to allocate ([\d.]+) (\w+) for an array")
_UNITS = {"bytes": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}
_BAD_ALLOC = re.compile(r"terminate called after throwing an instance of 'std::bad_(?:alloc|array_new_length)'")


def match(job: Job) -> Match | None:
    """Returns the first process at fault that asked for memory in vain."""
    for process in sorted(primary_failures(job), key=ended_s):
        found = _by_exception(job, process) or _by_abort(job, process)
        if found is not None:
            return found
    return None


def _by_exception(job: Job, process: JobProcess) -> Match | None:
    error = root_exception(job, process)
    if error is None or not _TEXT.search(error.root_text) or _NOT_HOST.search(error.root_text):
        return None
    evidence = path_evidence(job, error.text, error.frames)
    return _match(job, process, error.root_text, locations_of(job, error), evidence, error.process, error.at_s)


def _by_abort(job: Job, process: JobProcess) -> Match | None:
    thrown = _BAD_ALLOC.search(written_by(job, process)) if is_fault(process.end.signal) else None
    if thrown is None:
        return None
    crash = native_crash(process)
    lines = distinct([job.line(frame) for frame in crash.frames[:3]])
    return _match(job, process, thrown[0], lines, path_evidence(job, thrown[0], crash.path), process, None)


def _match(
    job: Job,
    process: JobProcess,
    text: str,
    lines: tuple[str, ...],
    evidence: tuple[Evidence, ...],
    raised_in: JobProcess,
    at_s: float | None,
) -> Match:
    asked = _asked(text)
    total = _limit(job)
    keeping = suspected_leaks(job, process)
    leak = keeping[0] if keeping and is_small_request(asked, total) else None
    kept = [job.line(frame) for frame in keeping[:2]]
    locations = distinct([*kept, *lines] if leak is not None else [*lines, *kept])
    size = f"{format_bytes(asked)} " if asked is not None else ""
    at = f" at {lines[0]}" if lines else ""
    have = f", of {format_bytes(total)} that it may have" if total else ""
    because = f"; {job.line(leak)} keeps {leak.function} of every iteration" if leak is not None else ""
    advice = (
        f"keep a number, not the tensor: {leak.function}.item() or .detach() at {job.line(leak)}"
        if leak is not None
        else f"allocate less{at}: smaller batches or pieces, fewer workers; or raise the limit (ulimit -v, container)"
    )
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} asked for {size}memory in vain{at}{have}{because}",
        evidence=[
            end_evidence(process),
            Evidence(source=f"process {raised_in.pid}", observed=text[:500]),
            *evidence,
            *(source_evidence(job, leak) if leak is not None else ()),
        ],
        fix=Fix(text=advice),
        locations=locations,
        module=module_of(process),
        confidence=Confidence.LIKELY if leak is not None else Confidence.CONFIRMED,
        explains=[raised_in.pid],
        began_s=at_s,
    )


def _asked(text: str) -> float | None:
    if found := _BYTES.search(text):
        return float(found[1])
    if found := _NUMPY.search(text):
        return float(found[1]) * _UNITS.get(found[2], 1)
    return None


def _limit(job: Job) -> int | None:
    """Returns the bytes a process may have: the smaller of its address space limit and the machine's memory."""
    limits = [size for size in (job.facts.limits.get("as", -1), job.facts.memory_bytes or -1) if size > 0]
    return min(limits, default=None)
