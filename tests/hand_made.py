"""Cases put together by hand: small processes in place of a watched job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Role, Severity
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.record.agent_data import AgentData, LifecycleEvent, Steps
from diagnostics.record.supervisor_facts import End, SupervisorFacts
from diagnostics.static.program.source_file import SourceStore

AGENT_FOLDER = "/doctor/agent"


def frame(place: str, function: str = "main") -> Frame:
    """Returns the frame of "train.py:31"."""
    file, _, line = place.rpartition(":")
    return Frame(file=file, line=int(line), function=function)


def frames(*places: str) -> tuple[Frame, ...]:
    """Returns a call path, innermost first."""
    return tuple(frame(place) for place in places)


def event(
    kind: str, text: str = "", *places: str, value: int = 0, seconds: float = 1.0, sequence: int = 0
) -> LifecycleEvent:
    """Returns a lifecycle event."""
    return LifecycleEvent(
        sequence=sequence, seconds=seconds, kind=kind, text=text, value=value, thread=1, path=frames(*places)
    )


def agent(*events: LifecycleEvent, pid: int = 100, steps: int = 0, **fields: Any) -> AgentData:
    """Returns an agent's file with these events, numbered in the order given."""
    numbered = tuple(replace(one, sequence=one.sequence or index) for index, one in enumerate(events, 1))
    known = {
        "name": f"agent-{pid}-1.bin", "pid": pid, "parent_pid": 1, "start_ticks": 1, "forked_from": 0, "started_ns": 0,
        "variables": {}, "argv": (), "cwd": "", "python": "3.11.7", "agent_folder": AGENT_FOLDER, "events": numbered,
        "dropped_events": 0, "open_modules": (), "entered": (), "constructions": (), "problems": (),
        "steps": Steps(count=steps),
    }  # fmt: skip
    return AgentData(**{**known, **fields})


def raised(
    text: str, *places: str, how: ExceptionSource = ExceptionSource.UNCAUGHT, at_s: float = 2.0, **fields: Any
) -> ExceptionRecord:
    """Returns an exception of "Type: message"."""
    kind, _, message = text.partition(": ")
    path = frames(*places)
    known = {"how": how, "at_s": at_s, "type": kind, "message": message, "path": path, "user_path": path}
    return ExceptionRecord(**{**known, **fields})


def a_process(
    pid: int = 100,
    *,
    rank: int | None = 0,
    part: ProcessRole = ProcessRole.RANK,
    code: int | None = None,
    signal: int | None = None,
    at_s: float = 3.0,
    **fields: Any,
) -> JobProcess:
    """Returns one process; exit code 0 where neither code nor signal is given."""
    end = End(exit_code=0 if code is None and signal is None else code, signal=signal, at_s=at_s, source="pidfd")
    known = {
        "pid": pid, "start_ticks": 1, "parent_pid": 1, "argv": ("python", "train.py"), "cwd": "", "part": part,
        "rank": rank, "restart": 0, "began_s": 0.0, "end": end, "ended_by": "", "agent": None, "fault": None,
        "death": None, "raised": (), "loads": (), "stdout": "", "stderr": "",
    }  # fmt: skip
    return JobProcess(**{**known, **fields})


def a_job(
    *processes: JobProcess, code: int = 1, cwd: Path | str = "/job", output: str = "",
    files: dict[str, str] | None = None, culprits: tuple[JobProcess, ...] | None = None,
    facts: dict[str, Any] | None = None, **fields: Any,
) -> Job:  # fmt: skip
    """Returns the job of these processes; culprits are the failed ranks unless given. `files` are written to `cwd`."""
    for name, text in (files or {}).items():
        Path(cwd, name).parent.mkdir(parents=True, exist_ok=True)
        Path(cwd, name).write_text(text)
    ranks = tuple(one for one in processes if one.part is ProcessRole.RANK)
    failed = tuple(one for one in ranks if one.failed)
    told = SupervisorFacts(
        **{"command": ("python", "train.py"), "cwd": str(cwd), "started_ns": 0, "exit_code": code, **(facts or {})}
    )
    known = {
        "facts": told, "processes": processes, "ranks": ranks, "culprits": failed if culprits is None else culprits,
        "victims": (), "sent": (), "output": output or "\n".join(one.stderr for one in processes),
        "output_by_rank": {one.rank: one.output for one in ranks if one.rank is not None and one.output},
        "sources": SourceStore(str(cwd)),
    }  # fmt: skip
    return Job(**{**known, **fields})


def a_match(
    code: str, failure_class: str = "python-exception", *, outcome: JobOutcome = JobOutcome.CRASH,
    confidence: Confidence = Confidence.CONFIRMED, role: Role = Role.ROOT, explains: tuple[int, ...] = (100,),
    began_s: float | None = 1.0, generic: bool = False, ranks: tuple[int, ...] = (),
) -> Match:  # fmt: skip
    finding = Finding(
        code=code, name="made-by-hand", severity=Severity.ERROR, title="a failure", where="rank 0",
        evidence=(Evidence(source="test", observed="seen"),), confidence=confidence, role=role,
    )  # fmt: skip
    return Match(
        finding=finding, failure_class=failure_class, outcome=outcome, explains=explains, began_s=began_s,
        generic=generic, culprit_ranks=ranks,
    )  # fmt: skip
