"""Which line of the job sent the signal that ended a process. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.evidence import ended_s
from diagnostics.dynamic.job.job import Job, JobProcess, SignalSent
from diagnostics.dynamic.job.job_sources import job_sources

SLACK_S = 1.0
# Not `signal.alarm(0)`, which takes it back.
_ALARM = re.compile(r"\b(?:alarm\(\s*(?!0\s*\))|setitimer\(\s*(?:signal\.)?ITIMER_REAL\s*,\s*(?!0\s*\)))\S")


def sender_of(job: Job, process: JobProcess) -> SignalSent | None:
    """Returns the call in the job that sent the signal that ended `process`: to it, or to its group."""
    before = [
        one
        for one in job.sent
        if one.signal == process.end.signal and one.at_s <= ended_s(process) + SLACK_S and one.target_pid != 0
    ]
    direct = [one for one in before if one.target_pid == process.pid]
    group = [one for one in before if one.target_pid < 0 and process.ended_by == f"pid {one.sender_pid}"]
    return max(direct or group, key=lambda one: one.at_s, default=None)


def frames_of(job: Job, sent: SignalSent) -> tuple[Frame, ...]:
    """Returns the user's path to the call that sent it."""
    sender = job.of_pid(sent.sender_pid)
    return user_frames(sent.path, agent_folder=sender.agent_folder if sender is not None else "")


def alarms_of(job: Job, process: JobProcess) -> Iterator[str]:
    """Yields the lines in the files of a process that set an alarm: SIGALRM ends who has no handler when it rings."""
    for file, source in job_sources(job, process):
        for number, line in enumerate(source.lines, 1):
            if _ALARM.search(line) and not line.lstrip().startswith("#"):
                yield job.line(Frame(file=file, line=number, function=""))
