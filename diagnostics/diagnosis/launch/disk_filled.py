"""A file could not be written since its file system, or the quota on it, is full.

What it does: takes "No space left on device", "Disk quota exceeded" and the texts that hide them (torch.save says
"unexpected pos 576 vs 534"), beside the least free space of that file system while the job ran, and names the writer.

Why it matters: only the rank that writes fails, the others wait for it; and the checkpoint that is left is half a file.

Fix: free space or write elsewhere; write checkpoints under a temporary name and rename them.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.wording import distinct, format_bytes, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, failed_processes, match_text, merged_locations
from diagnostics.dynamic.failures.full_disks import disk_evidence, disk_of, full_disks, path_in, was_full
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.launch_settings import lines_setting
from diagnostics.record.supervisor_facts import DiskState

CODE = "D113"
NAME = "disk-filled"
CLASS = "disk-full"
EXAMINES = AppliesTo.FAILED

FULL = re.compile(
    r"(?P<sure>No space left on device|\[Errno 28\]|errno = 28|ENOSPC|Disk quota exceeded|\[Errno 122\]|EDQUOT"
    r"|File too large|\[Errno 27\])"
    r"|(?P<hidden>unexpected pos \d+ vs \d+|PytorchStreamWriter failed writing file|iostream error"
    r"|\b\d{1,20} requested and \d+ written|file write failed"
    r"|Unable to (?:write|flush|extend)[^\n]{0,200}(?:file|data))",
)
SHARED = re.compile(r"shm/(?:torch_|psm_|sem\.)|</torch_|shared memory", re.IGNORECASE)


def match(job: Job) -> Match | None:
    """Returns who could not write what to which file system, and the line that writes."""
    tellers = [
        one
        for one in match_text(job, FULL) or match_text(job, FULL, failed_processes(job))
        if not SHARED.search(one.found.string[max(0, one.found.start() - 300) : one.found.end() + 300])
    ]
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    file = _file(job, one)
    disk = disk_of(job, file) if file else _only_full(job)
    proven = disk is not None and was_full(disk)
    if not one.found["sure"] and not proven and not _while_saving(one):
        return None
    where = (
        f" on {disk.path}, which had {format_bytes(disk.least_free_bytes)} free at the worst" if disk and proven else ""
    )
    hidden = f" (this is what {one.found[0]!r} means)" if one.found["hidden"] else f": {one.found[0]}"
    folder = file.rpartition("/")[0]
    set_at = lines_setting(job, ("out", "output", "dir", "path", "checkpoint", "save"), folder) if folder else ()
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} could not write {file or 'a file'}{where}: no space is left{hidden}",
        evidence=(*one.evidence(job), *((disk_evidence(disk),) if disk is not None else ())),
        fix=Fix(
            text="free space there or write elsewhere; keep fewer checkpoints, and write each under a temporary name "
            "that is renamed when it is whole",
            commands=(f"df -h {disk.path if disk else folder or '.'}", f"du -sh {folder or '.'}"),
        ),
        locations=distinct([*merged_locations(job, tellers), *[line for line in set_at if line]]),
        confidence=Confidence.CONFIRMED if one.found["sure"] or proven else Confidence.LIKELY,
    )


def _file(job: Job, one: TextMatch) -> str:
    """The file of the failed save that the agent noted, else the path quoted in the message."""
    tail = one.found.string[one.found.end() : one.found.end() + 400]
    quoted = path_in(tail)
    if quoted:
        return quoted
    saves = [load.file for load in one.process.loads if load.file and FULL.search(load.error)]
    return saves[-1] if saves else path_in(one.found.string)


def _only_full(job: Job) -> DiskState | None:
    full = full_disks(job)
    return full[0] if full else None


def _while_saving(one: TextMatch) -> bool:
    """Half a file was written: torch and numpy say so only where the operating system took fewer bytes."""
    said = one.found["hidden"]
    return said.startswith(("unexpected pos", "PytorchStreamWriter")) or said.endswith("written")
