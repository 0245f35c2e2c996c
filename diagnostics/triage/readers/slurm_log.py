"""Slurm's output files: the job's own text between the words of slurmstepd and srun, which are translated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.record.launcher_log import read_launcher_log
from diagnostics.triage.decoding.times import first_time_s, last_time_s
from diagnostics.triage.readers.common import error_words
from diagnostics.triage.readers.log_text import claim_of_success, end_words, logs_in, own_errors, text_of, tracker_ids
from diagnostics.triage.trace import Claim, Folder, RunTrace

KIND = "slurm"
_NAME = re.compile(r"^slurm-(?P<job>\d{1,12}(?:_\d{1,9})?)\.(?:out|err)$")
_ENDED = re.compile(
    r"(?:slurmstepd|srun): (?:error: )?\*\*\* (?:JOB|STEP) (?P<job>\d{1,12})\S{0,12} ON \S{1,64} CANCELLED AT "
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?: DUE TO (?P<why>[A-Z _]{3,40}))? \*\*\*"
)
_OOM = re.compile(r"(?:slurmstepd|srun).{0,80}\boom[-_ ]?kill", re.IGNORECASE)
_MARKS = ("slurmstepd: ", "srun: error: ", "srun: Job step", "srun: Force Terminated")
# What Slurm means. It names the node on which it saw an end, which is not always where it began.
MEANINGS = {
    "TIME LIMIT": "its time limit was over", "PREEMPTION": "another job needed its nodes",
    "NODE FAILURE": "a node went away",
    "JOB REQUEUE": "it was put back into the queue", "": "somebody cancelled it (scancel)",
}  # fmt: skip


def find(folder: Folder) -> Iterator[Path]:
    """Yields slurm-*.out, and other logs in which srun or slurmstepd speaks."""
    for path in logs_in(folder):
        if _NAME.match(path.name) or any(mark in text_of(path) for mark in _MARKS):
            yield path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the run of a log."""
    text, named = text_of(path), _NAME.match(path.name)
    ended = list(_ENDED.finditer(text))
    log = read_launcher_log(text)
    bad = [end for end in log.ends if end.exit_code or end.signal]
    done = claim_of_success(text)
    notes = []
    if ended:
        why = (ended[0]["why"] or "").strip()
        notes.append(f"Slurm ended job {ended[0]['job']} at {ended[0]['time']}: {MEANINGS.get(why, why.lower())}")
    if _OOM.search(text):
        notes.append("the kernel ended a process of it for want of memory (cgroup), as Slurm saw")
    if bad:
        notes.append("Slurm's 'task N' is the rank of srun, and its node where the end was seen, not where it began")
    yield RunTrace(
        source=KIND, path=str(path), run_id=f"slurm-{named['job']}" if named else path.stem,
        aliases=(*tracker_ids(text), *((f"job-{named['job']}",) if named else ())), is_tracker=False,
        started_s=first_time_s(text), last_sign_s=last_time_s(text) or path.stat().st_mtime,
        rank=bad[0].rank if bad else None, exit_code=bad[0].exit_code if bad else None,
        signal=bad[0].signal if bad else None,
        said=Claim.KILLED if ended else Claim.FAILED if bad else Claim.FINISHED if done else Claim.NOTHING,
        said_words=notes[0] if ended else end_words(bad) if bad else f"the log says '{done}'" if done else "",
        error=error_words(own_errors(text)), notes=(*notes, *([f"the log says '{done}'"] if done else [])),
    )  # fmt: skip
