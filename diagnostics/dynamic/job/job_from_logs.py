"""Makes a Case of nothing but the log of a job that died unwatched: torchrun, NCCL, DeepSpeed, Slurm, docker. Pure.

A log tells less than a record: ends without times, ranks by the prefixes of their lines. What rests on it is at most
likely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from diagnostics.dynamic.job.attribution import blame
from diagnostics.dynamic.job.exceptions import causes_of, from_traceback
from diagnostics.dynamic.job.job import ExceptionRecord, Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.job_builder import SOURCE_SUFFIXES
from diagnostics.dynamic.job.marked_output import lines_by_rank
from diagnostics.dynamic.job.terminations import FAULT_SIGNALS
from diagnostics.record.launcher_log import LoggedEnd, read_launcher_log
from diagnostics.record.stacks import parse_fault_report
from diagnostics.record.supervisor_facts import End, SupervisorFacts
from diagnostics.record.tracebacks import TracebackText, tracebacks
from diagnostics.static.program.source_file import SourceStore

# What containers and log collectors put before each line: a time, a name and a bar, "stdout F".
_COLLECTOR = re.compile(
    r"^(?:\x1b\[[0-9;]*m)*(?:[\w.-]{1,60}\s*\|\s)?(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)\s(?:std(?:out|err)\s[FP]\s)?)?"
)
_CHILD = re.compile(r"^-- Process (?P<index>\d{1,6}) terminated with the following error:$", re.MULTILINE)
_OF_LAUNCHERS = re.compile(
    r"(?:^|\.)(?:ChildFailedError|ProcessRaisedException|ProcessExitedException|CalledProcessError|SignalException)$"
)
_ROOT_CAUSE = re.compile(r"Root Cause \(first observed failure\):\n.{0,300}?rank\s*: (?P<rank>\d{1,6}) ", re.DOTALL)
_KERNEL = re.compile(r"oom[-_]kill|Out of memory: Killed|Killed process \d+|segfault at |NVRM: Xid", re.IGNORECASE)
_DIED = re.compile(
    r"^(?:.{0,200}: line \d+:\s+\d+ )?(Segmentation fault|Aborted|Bus error|Illegal instruction|Killed)\b"
)
_FIRST_S, _LATER_S = 1.0, 2.0  # a log has no times that can be trusted: the first failure, and all that follow


def job_from_logs(texts: Mapping[str, str], cwd: str) -> Job:
    """Returns the Case of log files by name, each read from its first to its last line."""
    text = "\n".join(clean(one) for one in texts.values())
    by_rank, rest = lines_by_rank(text)
    processes = [_job_process(rank, lines, text) for rank, lines in sorted(by_rank.items())]
    processes = _with_rest(processes, rest, text)
    culprits, victims = blame(processes, text)
    failed = any(process.failed for process in processes)
    ranks = tuple(process for process in processes if process.part is ProcessRole.RANK)
    return Job(
        facts=SupervisorFacts(
            command=(),
            cwd=cwd,
            started_ns=0,
            exit_code=1 if failed else None,
            kernel_lines=tuple(line for line in text.splitlines() if _KERNEL.search(line))[:50],
        ),
        processes=tuple(processes),
        ranks=ranks,
        culprits=culprits,
        victims=victims,
        sent=(),
        output=text,
        output_by_rank={
            process.rank: process.output for process in ranks if process.rank is not None and process.output
        },
        sources=SourceStore(cwd, None, SOURCE_SUFFIXES),
        extra=dict(texts),
    )


def clean(text: str) -> str:
    """Returns the log without what containers and collectors put before each line."""
    return "\n".join(_COLLECTOR.sub("", line.rstrip("\r"), count=1) for line in text.split("\n"))


def _with_rest(processes: Sequence[JobProcess], rest: str, text: str) -> list[JobProcess]:
    """Adds ranks of which only the launcher told, the launcher itself, and a lone program."""
    told = {end.rank: end for end in read_launcher_log(text).ends if end.rank is not None}
    spawned = {int(found["index"]): rest[found.end() :] for found in _CHILD.finditer(rest)}
    unmarked = [one for one in tracebacks(rest) if not _OF_LAUNCHERS.search(one.type)] if not spawned else []
    first = _first_failed(text, list(told))
    complete = list(processes)
    for rank in sorted(({rank for rank in told if rank is not None} | set(spawned)) - {one.rank for one in processes}):
        own = spawned.get(rank, "")
        process = _job_process(rank, own, text)
        if rank == first and unmarked and not own:
            process = _process(rank, ProcessRole.RANK, rest, process.end, _raised(unmarked[-1], _FIRST_S))
        complete.append(process)
    if any(_OF_LAUNCHERS.search(one.type) for one in tracebacks(rest)):
        complete.append(
            _process(None, ProcessRole.LAUNCHER, "", End(exit_code=1, at_s=_LATER_S, source="launcher-log"), ())
        )
    if not any(process.part is ProcessRole.RANK for process in complete) and (unmarked or _died(rest) is not None):
        raised = _raised(unmarked[-1], _FIRST_S) if unmarked else ()
        number = _died(rest) if not unmarked else None
        end = End(exit_code=None if number else 1, signal=number, at_s=_FIRST_S, source="log")
        complete.append(_process(0, ProcessRole.RANK, rest, end, raised))
    return complete


def _job_process(rank: int, lines: str, text: str) -> JobProcess:
    ends: Sequence[LoggedEnd] = [end for end in read_launcher_log(text).ends if end.rank == rank]
    found = tracebacks(lines)
    told = ends[-1] if ends else None
    at = _FIRST_S if rank == _first_failed(text, [rank] if told is not None else []) else _LATER_S
    number = told.signal if told is not None else _died(lines)
    code = told.exit_code if told is not None else 1 if found and number is None else None
    source = "launcher-log" if told is not None else "log" if found or number is not None else ""
    end = End(exit_code=code, signal=number, at_s=at, source=source)
    return _process(rank, ProcessRole.RANK, lines, end, _raised(found[-1], at) if found else ())


def _process(
    rank: int | None, part: ProcessRole, written: str, end: End, raised: tuple[ExceptionRecord, ...]
) -> JobProcess:
    return JobProcess(
        pid=1 + rank if rank is not None else 0,
        start_ticks=0,
        parent_pid=0,
        argv=(),
        cwd="",
        part=part,
        rank=rank,
        restart=0,
        began_s=0.0,
        end=end,
        ended_by="launcher" if end.signal == 15 else "unknown" if end.signal in (1, 2, 9) else "",
        agent=None,
        fault=parse_fault_report(written),
        death=None,
        raised=raised,
        loads=(),
        stdout="",
        stderr=written,
    )


def _raised(one: TracebackText, at: float) -> tuple[ExceptionRecord, ...]:
    return (*causes_of(one, at, ()), from_traceback(one, at))


def _first_failed(text: str, told: Sequence[int]) -> int | None:
    """Returns the rank that the launcher names as the first, the only one that it told of where it names none."""
    found = _ROOT_CAUSE.search(text)
    if found:
        return int(found["rank"])
    return told[0] if len(told) == 1 else None


def _died(text: str) -> int | None:
    """Returns the signal that faulthandler or a shell named."""
    report = parse_fault_report(text)
    if report is not None and report.error in FAULT_SIGNALS:
        return int(FAULT_SIGNALS[report.error])
    for line in text.splitlines():
        if found := _DIED.match(line):
            return int(FAULT_SIGNALS.get(found[1], 9))
    return None
