"""Commands of the job that end its own processes: `timeout 60 ...`, `kill $PID` in a script or a subprocess. Pure."""

from __future__ import annotations

import itertools
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.evidence import ended_s
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.launch.launch_settings import lines_with

_KILL = re.compile(r"(?:^|[\s;&|({\"'`])(?:[^\s;&|({\"'`]*/)?(?:kill|pkill|killall)\s+(?!-[lL0]\b)(?P<rest>[^;&|\n]+)")
_SIGNAL = re.compile(r"(?:^|\s)-(?:s\s*|n\s*|-signal[= ])?(?:SIG)?([A-Z][A-Z0-9]+|\d+)(?=\s|$)")
_TIMEOUT = re.compile(r"(?:^|[\s;&|(=])(?:[^\s;&|(=]*/)?g?timeout\s")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
_UNIT_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
RAN_OUT = 124
EARLY_S = 1.0  # what a process is seen later than it began


@dataclass(frozen=True, slots=True, kw_only=True)
class KillCommand:
    """What ended a process: the command's words, and the lines that it may stand at, best first."""

    command: str
    locations: tuple[str, ...]
    ran_out_s: float | None = None  # a `timeout` whose time was over
    certain: bool = False


def kill_command(job: Job, process: JobProcess, number: int) -> KillCommand | None:
    """Returns the command of the job that sent `process` the signal `number`; None where none is known."""
    return time_limit(job, process, number) or _of_python(job, process, number) or _of_script(job, number)


def time_limit(job: Job, process: JobProcess, number: int) -> KillCommand | None:
    """Returns the `timeout` above a process whose time was over when the process ended by this signal."""
    above = job.of_pid(process.parent_pid)
    for _ in range(len(job.processes)):
        if above is None or above.parent_pid == above.pid:
            return None
        if above.argv and above.argv[0].rpartition("/")[2] in ("timeout", "gtimeout"):
            break
        above = job.of_pid(above.parent_pid)
    limit_s = _limit_s(above.argv) if above is not None else None
    if (
        above is None
        or limit_s is None
        or number not in (signal.SIGTERM, signal.SIGKILL, _signal(" ".join(above.argv)))
    ):
        return None
    if above.end.exit_code != RAN_OUT and ended_s(process) - above.began_s < limit_s - EARLY_S:
        return None
    lines = [line for line in lines_with(job, _TIMEOUT) if any(word in line.text for word in above.argv[-3:])]
    return KillCommand(
        command=" ".join(above.argv)[:200],
        locations=tuple(line.location for line in lines or lines_with(job, _TIMEOUT, "shell")),
        ran_out_s=limit_s,
        certain=above.end.exit_code == RAN_OUT,
    )


def _limit_s(argv: tuple[str, ...]) -> float | None:
    """Returns the time that `timeout` gives; that of -k comes after it."""
    for before, word in itertools.pairwise(argv):
        found = _DURATION.fullmatch(word)
        if found and before not in ("-k", "--kill-after", "-s", "--signal"):
            return float(found[1]) * _UNIT_S[found[2]]
    return None


def _of_python(job: Job, process: JobProcess, number: int) -> KillCommand | None:
    """A `kill` that a Python process of the job ran as a child."""
    for sender in job.processes:
        for event in sender.agent.events if sender.agent is not None else ():
            words = event.text.partition(" | ")[2]
            if event.kind != "child" or not any(_meant(words, process, number)):
                continue
            frames = user_frames(event.path, agent_folder=sender.agent.agent_folder if sender.agent is not None else "")
            return KillCommand(command=words[:200], locations=tuple(job.line(one) for one in frames[:2]), certain=True)
    return None


def _meant(words: str, process: JobProcess, number: int) -> Iterator[bool]:
    for found in _KILL.finditer(words):
        rest = found["rest"].split()
        target = str(process.pid) in rest or (rest and "kill " not in found[0] and rest[-1] in " ".join(process.argv))
        yield bool(target) and _signal(found["rest"]) == number


def _of_script(job: Job, number: int) -> KillCommand | None:
    """A `kill` in a shell script of the job; not one in a trap or a function called cleanup, which ends helpers."""
    for line in lines_with(job, _KILL, "shell"):
        found = _KILL.search(line.text)
        if found is not None and "trap " not in line.text and _signal(found["rest"]) == number:
            return KillCommand(command=line.text.strip()[:200], locations=(line.location,))
    return None


def _signal(words: str) -> int:
    """Returns the signal that the words after `kill` or `timeout` name, SIGTERM where none is."""
    found = _SIGNAL.search(words)
    if found is None:
        return signal.SIGTERM
    if found[1].isdigit():
        return int(found[1])
    known = {one.name: one.value for one in signal.Signals}
    return known.get(f"SIG{found[1]}", signal.SIGTERM)
