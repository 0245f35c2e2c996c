"""What launchers write about the ends of their ranks: torchrun's summary, torch.multiprocessing, srun, shells. Pure."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

_PREFIX = r"^(?:\[[^\]\n]{1,40}\]:?\s*)?"
_SUMMARY = re.compile(
    r"rank\s*: (?P<rank>\d{1,7}) \(local_rank: (?P<local>\d{1,7})\)\s*\n"
    r".{0,200}?exitcode\s*: (?P<code>-?\d{1,5}) \(pid: (?P<pid>\d{1,10})\)",
)
_ELASTIC = re.compile(
    r"failed \(exitcode: (?P<code>-?\d{1,5})\) local_rank: (?P<local>\d{1,7}) \(pid: (?P<pid>\d{1,10})\)"
)
_CLOSING = re.compile(r"Sending process (?P<pid>\d{1,10}) closing signal (?P<signal>SIG[A-Z0-9]+)")
_DEEPSPEED = re.compile(r"\[launch\.py[^\]\n]{0,60}\] Killing subprocess (?P<killed>\d{1,10})")
_SPAWN = re.compile(
    r"process (?P<index>\d{1,7}) terminated with (?:signal (?P<signal>SIG[A-Z0-9]+)|exit code (?P<code>\d{1,5}))"
)
_SRUN = re.compile(
    rf"{_PREFIX}srun: error: (?P<node>\S+): tasks? (?P<tasks>[\d,\-]+): "
    r"(?:Exited with exit code (?P<code>\d{1,5})|(?P<words>[A-Z][\w ()]+))",
    re.MULTILINE,
)
_SRUN_WORDS = {
    "Killed": signal.SIGKILL, "Segmentation fault": signal.SIGSEGV, "Aborted": signal.SIGABRT,
    "Terminated": signal.SIGTERM, "Bus error": signal.SIGBUS, "Out Of Memory": signal.SIGKILL,
    "Illegal instruction": signal.SIGILL, "Floating point exception": signal.SIGFPE,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEnd:
    """The end of one process as a launcher told it; `rank` and `pid` are None where it did not name them."""

    pid: int | None
    rank: int | None
    exit_code: int | None
    signal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LauncherLog:
    """Ends of ranks by the launcher's own words, and the pids that it said it would end."""

    ends: tuple[LoggedEnd, ...]
    closed: tuple[int, ...]


def read_launcher_log(text: str) -> LauncherLog:
    """Returns what launchers said in `text`; of two statements about one process the later one."""
    ends: dict[tuple[int | None, int | None], LoggedEnd] = {}
    by_pid: dict[int, int] = {}
    for found in _SUMMARY.finditer(text):
        by_pid[int(found["pid"])] = int(found["rank"])
    for pattern in (_ELASTIC, _SUMMARY):
        for found in pattern.finditer(text):
            pid = int(found["pid"])
            rank = by_pid.get(pid)
            ends[(pid, None)] = _end(pid, rank, int(found["code"]))
    for found in _SPAWN.finditer(text):
        rank, number = int(found["index"]), signal_number(found["signal"] or "")
        end = LoggedEnd(pid=None, rank=rank, exit_code=int(found["code"]) if found["code"] else None, signal=number)
        ends.setdefault((None, rank), end)
    for found in _SRUN.finditer(text):
        for rank in _task_list(found["tasks"]):
            number = _srun_signal(found["words"] or "")
            code = int(found["code"]) if found["code"] else None
            if number is None and code is None:
                continue
            ends.setdefault((None, rank), LoggedEnd(pid=None, rank=rank, exit_code=code, signal=number))
    closed = [int(found["pid"]) for found in _CLOSING.finditer(text)]
    closed += [int(found["killed"]) for found in _DEEPSPEED.finditer(text)]
    return LauncherLog(ends=tuple(ends.values()), closed=tuple(dict.fromkeys(closed)))


def signal_number(name: str) -> int | None:
    """Returns the number of "SIGSEGV", None for no known name."""
    known = {one.name: int(one) for one in signal.Signals}
    return known.get(name)


def _end(pid: int | None, rank: int | None, code: int) -> LoggedEnd:
    if code < 0:
        return LoggedEnd(pid=pid, rank=rank, exit_code=None, signal=-code)
    return LoggedEnd(pid=pid, rank=rank, exit_code=code, signal=None)


def _srun_signal(words: str) -> int | None:
    return next((int(number) for word, number in _SRUN_WORDS.items() if words.startswith(word)), None)


def _task_list(text: str) -> list[int]:
    """Returns the numbers of "0-2,5"; a range is cut at 4096 tasks."""
    tasks: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and len(first) < 8:
            end = int(last) if last.isdigit() and len(last) < 8 else int(first)
            tasks += range(int(first), min(end, int(first) + 4096) + 1)
    return tasks
