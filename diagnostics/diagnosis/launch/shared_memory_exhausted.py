"""Shared memory is full: data workers cannot pass their batches.

What it does: takes a data worker's bus error, "unable to open shared memory object" and "No space left on device" about
/dev/shm, beside the size of /dev/shm and the least that was free, and names the line of the DataLoader.

Why it matters: a container has 64 MiB of it; the worker dies of SIGBUS without a word of Python, or a batch is lost and
the rank waits for ever.

Fix: docker run --shm-size=8g or --ipc=host, fewer workers, or smaller batches.
"""

from __future__ import annotations

import re
import signal

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, format_bytes, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import failed_processes, match_text, merged_locations
from diagnostics.dynamic.failures.full_disks import SHM, disk_evidence, disk_of, was_full
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.dynamic.launch.launch_settings import lines_with

CODE = "D112"
NAME = "shared-memory-exhausted"
CLASS = "shm-exhausted"
EXAMINES = AppliesTo.FAILED
SMALL_BYTES = 256 << 20

EXHAUSTED = re.compile(
    r"(?P<sure>unable to (?:open|resize|allocate|mmap|write to)[^\n]{0,120}(?:shared memory|/torch_|shm)[^\n]{0,120}"
    r"(?:No space left|\(28\)|Cannot allocate memory|\(12\))"
    r"|No space left on device[^\n]{0,120}(?:/dev/shm|/torch_|psm_)|could not resize shared memory segment"
    r"|(?:/dev/shm|/torch_)[^\n]{0,120}No space left on device)"
    r"|(?P<likely>insufficient shared memory|killed by signal: Bus error|unable to open shared memory object"
    r"|Bus error)",
    re.IGNORECASE,
)
DESCRIPTORS = re.compile(r"Too many open files|\(24\)")
LOADERS = re.compile(r"\bDataLoader\(|num_workers\s*[=:]|share_memory_\(|SharedMemory\(")


def match(job: Job) -> Match | None:
    """Returns who could not write to /dev/shm, how full it was, and the line of the loader."""
    tellers = [one for one in match_text(job, EXHAUSTED, failed_processes(job)) if not DESCRIPTORS.search(one.line)]
    killed = [one for one in job.processes if one.end.signal == signal.SIGBUS]
    disk = disk_of(job, f"{SHM}/x")
    shm_full = disk is not None and disk.path == SHM and was_full(disk)
    small = job.facts.shm_bytes is not None and job.facts.shm_bytes <= SMALL_BYTES
    sure = any(one.found["sure"] for one in tellers)
    if not tellers and not (killed and shm_full):
        return None
    if not sure and not shm_full and not (small and any(one.part is ProcessRole.DATA_WORKER for one in killed)):
        return None  # a bus error of another cause
    processes = [one.process for one in tellers] or killed
    ranks = [one for one in processes if one.part is not ProcessRole.DATA_WORKER] or processes
    loaders = [line.location for line in lines_with(job, LOADERS, "python")]
    own = merged_locations(job, tellers) or [one.death.location for one in killed if one.death is not None]
    holds = f"holds {format_bytes(job.facts.shm_bytes)}" if job.facts.shm_bytes is not None else "is too small"
    least = f", {format_bytes(disk.least_free_bytes)} free at the worst" if disk is not None and shm_full else ""
    proof = [*(tellers[0].evidence(job) if tellers else ()), *([disk_evidence(disk)] if disk is not None else [])]
    ended = [Evidence(source=f"end of process {one.pid}", observed="died of SIGBUS") for one in killed]
    return blamed(
        job,
        ranks,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(ranks))} could not get shared memory: {SHM} {holds}{least}",
        evidence=(*proof, *ended) or (Evidence(source=SHM, observed=holds),),
        fix=Fix(
            text="give the container more shared memory (--shm-size=8g or --ipc=host), or use fewer workers, smaller "
            "batches or a smaller prefetch_factor",
            commands=("df -h /dev/shm", "docker run --shm-size=8g ...", "mount -o remount,size=8G /dev/shm"),
        ),
        locations=distinct([*own[:1], *loaders, *own[1:]]),
        confidence=Confidence.CONFIRMED if sure or shm_full else Confidence.LIKELY,
        explains=[one.pid for one in killed],
    )
