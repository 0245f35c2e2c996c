"""An allocation on a GPU failed.

What it does: reads torch's own numbers (asked, total, free, held by this and by other processes), names the rank and
the line; where the size asked for is small, also the line that keeps a graph of each iteration, read from the source.

Why it matters: another process on the same GPU, a leak and a batch that is too large end with the same words.

Fix: end the other process, keep .item() in place of the loss, or take smaller batches.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.memory_limits import is_small_request, suspected_leaks
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    module_of,
    names_of,
    path_evidence,
    primary_failures,
    source_evidence,
)
from diagnostics.dynamic.job.job import Job, JobProcess

CODE = "D231"
NAME = "gpu-memory-runs-out"
CLASS = "cuda-oom"
EXAMINES = AppliesTo.FAILED

_TEXT = re.compile(
    r"(?:CUDA|HIP) out of memory|CUDA error: out of memory|CUBLAS_STATUS_ALLOC_FAILED|Cuda failure.{0,9}out of memory"
)
_SIZE = r"([\d.]+) (bytes|KiB|MiB|GiB|TiB)"
_ASKED = re.compile(rf"Tried to allocate {_SIZE}")
_TOTAL = re.compile(rf"total capacity of {_SIZE}")
_FREE = re.compile(rf"of which {_SIZE} is free")
_OTHERS = re.compile(rf"Process (\d+) has {_SIZE} memory in use")
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def match(job: Job) -> Match | None:
    """Returns the first rank at fault whose allocation on a GPU failed."""
    for process in sorted(primary_failures(job), key=ended_s):
        error = root_exception(job, process)
        if error is not None and _TEXT.search(error.root_text):
            return _match(job, process, error)
    return None


def _match(job: Job, process: JobProcess, error: RootException) -> Match:
    text = error.root_text
    total = _bytes(_TOTAL, text)
    lines = locations_of(job, error)
    keeping = suspected_leaks(job, process, error.frames)
    leak = keeping[0] if keeping and is_small_request(_bytes(_ASKED, text), total) else None
    kept = [job.line(frame) for frame in keeping[:2]]
    locations = distinct([*kept, *lines] if leak is not None else [*lines, *kept])
    others = [found for found in _OTHERS.finditer(text) if int(found[1]) != process.pid]
    values = [f"asked for {_words(_ASKED, text)}", f"{_words(_FREE, text)} free", f"of {_words(_TOTAL, text)}"]
    known = ", ".join(value for value in values if "unknown" not in value) or "out of memory"
    if others:
        advice = (
            f"process {others[0][1]} holds {others[0][2]} {others[0][3]} of the same GPU: end it, or use another GPU"
        )
    elif leak is not None:
        advice = f"keep a number, not the graph: {leak.function}.item() or .detach() at {job.line(leak)}"
    else:
        advice = "take a smaller batch, gradient accumulation or activation checkpointing"
    because = f"; {job.line(leak)} keeps {leak.function} of every iteration" if leak is not None else ""
    at = f" at {lines[0]}" if lines else ""
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} ran out of GPU memory{at}: {known}{because}",
        evidence=[
            end_evidence(process),
            *path_evidence(job, error.text[:600], error.frames),
            *(source_evidence(job, leak) if leak is not None else ()),
        ],
        fix=Fix(text=advice, commands=("nvidia-smi",)),
        locations=locations,
        module=module_of(process),
        confidence=Confidence.LIKELY if leak is not None else Confidence.CONFIRMED,
        explains=[error.process.pid],
        began_s=error.at_s,
    )


def _bytes(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    return float(found[1]) * _UNITS[found[2]] if found else None


def _words(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return f"{found[1]} {found[2]}" if found else "unknown"
