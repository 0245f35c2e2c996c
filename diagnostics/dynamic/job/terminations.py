"""How each process of a job ended and who ended it, from all that tells. Pure.

The kernel's word (the supervisor's pidfd or wait) comes first, then the parent's own wait, then the launcher's log,
then what the process itself noted on its way out.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnostics.dynamic.job.job import ProcessRole, SignalSent
from diagnostics.dynamic.job.process_list import MergedProcess, job_time, words
from diagnostics.dynamic.job.process_roles import ProcessRoles
from diagnostics.record.launcher_log import LauncherLog
from diagnostics.record.stacks import FaulthandlerLog
from diagnostics.record.supervisor_facts import End, SupervisorFacts

DOCTOR, LAUNCHER, UNKNOWN = "doctor", "launcher", "unknown"
# faulthandler's words for the signals that it handles
FAULT_SIGNALS = {
    "Segmentation fault": signal.SIGSEGV,
    "Aborted": signal.SIGABRT,
    "Bus error": signal.SIGBUS,
    "Illegal instruction": signal.SIGILL,
    "Floating-point exception": signal.SIGFPE,
    "Floating point exception": signal.SIGFPE,
}
FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU}  # fmt: skip
LAUNCHERS_SIGNALS = {signal.SIGTERM, signal.SIGKILL, signal.SIGINT}
WAYS_OUT = ("exception", "sys.exit", "os._exit", "os.abort")
SLACK_S = 0.25  # an end is noticed later than it happened


@dataclass(frozen=True, slots=True, kw_only=True)
class EndEvidence:
    """What is known about a process's end, and the parts of the record that tell."""

    faults: Mapping[str, FaulthandlerLog]
    log: LauncherLog


def termination_of(process: MergedProcess, job: SupervisorFacts, parts: ProcessRoles, told: EndEvidence) -> End:
    """Returns how the process ended; an End without numbers and source where nothing tells."""
    seen = process.seen.end if process.seen is not None else None
    if seen is not None and (seen.exit_code is not None or seen.signal is not None):
        return seen
    known = (
        _parents_word(process, job, parts) or _launchers_word(process, parts, told.log) or _own_word(process, job, told)
    )
    at = seen.at_s if seen is not None else None
    if known is None:
        return End(at_s=at)
    return known if at is None else End(exit_code=known.exit_code, signal=known.signal, at_s=at, source=known.source)


def sent_by_job(processes: Sequence[MergedProcess], job: SupervisorFacts) -> tuple[SignalSent, ...]:
    """Returns the signals that Python processes of the job sent, by time."""
    sent = []
    for process in processes:
        for event in process.events:
            said = words(event.text) if event.kind == "kill" else {}
            target, number = _integer(said.get("pid", "")), _integer(said.get("signal", ""))
            if process.agent is not None and target is not None and number is not None:
                if said.get("how", "").endswith("killpg") and target > 0:
                    target = -target
                sent.append(
                    SignalSent(
                        at_s=job_time(job, process.agent, event.seconds),
                        sender_pid=process.pid,
                        target_pid=target,
                        signal=number,
                        path=event.path,
                    )
                )
    return tuple(sorted(sent, key=lambda one: one.at_s))


class EndAttribution:
    """Says who ended a process."""

    def __init__(
        self,
        job: SupervisorFacts,
        parts: ProcessRoles,
        ends: Mapping[int, End],
        sent: Sequence[SignalSent],
        processes: Sequence[MergedProcess],
        log: LauncherLog,
    ) -> None:
        self._job, self._parts, self._ends, self._sent, self._log = job, parts, ends, sent, log
        self._by_pid = {process.pid: process for process in processes}
        self._spared: dict[int, list[MergedProcess]] = {}  # by who sends: the ranks that it sent nothing
        failed = [process for process in processes if self._failed_by_itself(process)]
        times = [ends[id(process)].at_s for process in failed if parts.part(process) is ProcessRole.RANK]
        self._first_failure_s = min((at for at in times if at is not None), default=None)

    def ended_by(self, process: MergedProcess) -> str:
        """Returns "" (itself), doctor, launcher, "pid N" of a process of the job, or unknown."""
        end = self._ends[id(process)]
        if end.signal is None and end.exit_code in (0, None):
            return ""
        if self._doctor_sent(process, end):
            return DOCTOR
        sender = self._sender(process, end)
        if sender is not None:
            return sender
        parent = self._parts.parent(process)
        below_launcher = parent is not None and self._parts.part(parent) is ProcessRole.LAUNCHER
        closed = process.pid in self._log.closed and end.signal in LAUNCHERS_SIGNALS
        if closed or (below_launcher and end.signal in LAUNCHERS_SIGNALS and self._after_a_failure(end)):
            return LAUNCHER
        return UNKNOWN if end.signal in FROM_OUTSIDE else ""

    def _failed_by_itself(self, process: MergedProcess) -> bool:
        end = self._ends[id(process)]
        return (end.signal is not None and end.signal not in LAUNCHERS_SIGNALS) or end.exit_code not in (0, None)

    def _after_a_failure(self, end: End) -> bool:
        return self._first_failure_s is not None and (end.at_s is None or end.at_s >= self._first_failure_s - SLACK_S)

    def _doctor_sent(self, process: MergedProcess, end: End) -> bool:
        sent = [one.at_s for one in self._job.sent if one.pid == process.pid]
        if self._job.asked_to_end or self._job.ended_for_hanging:
            # A signal to the process group reaches processes that were not named one by one.
            sent += [one.at_s for one in self._job.sent if one.why == self._job.ended_by]
        return bool(sent) and (end.at_s is None or end.at_s >= min(sent) - SLACK_S)

    def _sender(self, process: MergedProcess, end: End) -> str | None:
        """Returns who of the job sent the signal that ended it, or that it answered with an exit code."""
        for one in reversed(self._sent):
            reached = one.target_pid == process.pid or (one.target_pid < 0 and self._in_group(process, -one.target_pid))
            late = end.at_s is not None and one.at_s > end.at_s + SLACK_S
            if not reached or late or one.signal == 0:
                continue
            if end.signal is not None and end.signal != one.signal:
                continue  # it died of something else
            if end.signal is None and (one.signal not in LAUNCHERS_SIGNALS or self._was_leaving(process, one.at_s)):
                continue
            if one.sender_pid == process.pid:
                return ""
            sender = self._by_pid.get(one.sender_pid)
            launcher = sender is not None and self._parts.part(sender) is ProcessRole.LAUNCHER
            return LAUNCHER if launcher and not self._picked(one, end) else f"pid {one.sender_pid}"
        return None

    def _picked(self, sent: SignalSent, end: End) -> bool:
        """Whether a launcher ended this one of several ranks that all ran: no clearing away after a failure."""
        if sent.target_pid < 0 or self._after_a_failure(end):
            return False
        if sent.sender_pid not in self._spared:
            reached = {one.target_pid for one in self._sent if one.sender_pid == sent.sender_pid}
            spared = [one for pid, one in self._by_pid.items() if pid not in reached]
            self._spared[sent.sender_pid] = [one for one in spared if self._parts.part(one) is ProcessRole.RANK]
        return any(not self._is_over(one, sent.at_s) for one in self._spared[sent.sender_pid])

    def _is_over(self, process: MergedProcess, at_s: float) -> bool:
        ended_s = self._ends[id(process)].at_s
        return ended_s is not None and ended_s < at_s

    def _was_leaving(self, process: MergedProcess, at: float) -> bool:
        """Whether it was on its way out by itself, with an exception or a code of its own, when the signal was sent."""
        agent = process.agent
        if agent is None:
            return False
        left = [event for event in agent.events if event.kind in WAYS_OUT]
        return any(job_time(self._job, agent, event.seconds) <= at for event in left)

    def _in_group(self, process: MergedProcess, group: int) -> bool:
        """Whether the process, or one above it, leads the group; nothing records the groups themselves."""
        above: MergedProcess | None = process
        for _ in range(64):
            if above is None or above.pid == group:
                return above is not None
            above = self._parts.parent(above)
        return False


def _parents_word(process: MergedProcess, job: SupervisorFacts, parts: ProcessRoles) -> End | None:
    parent = parts.parent(process)
    if parent is None or parent.agent is None:
        return None
    for event in reversed(parent.events):
        said = words(event.text) if event.kind == "child-end" else {}
        at = job_time(job, parent.agent, event.seconds)
        if said.get("pid") != str(process.pid) or at < process.began_s - SLACK_S:
            continue
        code, number = _integer(said.get("code", "")), _integer(said.get("signal", ""))
        if code is not None and code < 0:
            number, code = -code, None
        if code is not None or number is not None:
            return End(exit_code=code, signal=number, at_s=min(at, _left_s(process, job)), source="parent-wait")
    return None


def _left_s(process: MergedProcess, job: SupervisorFacts) -> float:
    """Returns when it called os._exit as the last it did: a parent may wait for another child first."""
    agent = process.agent
    last = agent.events[-1] if agent is not None and agent.events else None
    if agent is None or last is None or last.kind != "os._exit":
        return math.inf
    return job_time(job, agent, last.seconds)


def _launchers_word(process: MergedProcess, parts: ProcessRoles, log: LauncherLog) -> End | None:
    for end in reversed(log.ends):
        same_rank = end.pid is None and end.rank is not None and end.rank == parts.rank(process)
        if end.pid == process.pid or (same_rank and parts.part(process) is ProcessRole.RANK):
            return End(exit_code=end.exit_code, signal=end.signal, source="launcher-log")
    return None


def _own_word(process: MergedProcess, job: SupervisorFacts, told: EndEvidence) -> End | None:
    agent = process.agent
    if agent is None:
        return None
    fault = told.faults.get(agent.name)
    last = agent.events[-1] if agent.events else None
    at = job_time(job, agent, last.seconds) if last is not None else None
    if fault is not None and fault.error in FAULT_SIGNALS:
        return End(signal=int(FAULT_SIGNALS[fault.error]), at_s=at, source="agent")
    if last is None:
        return None
    if last.kind == "os._exit":
        return End(exit_code=last.value & 0xFF, at_s=at, source="agent")
    if last.kind == "os.abort":
        return End(signal=int(signal.SIGABRT), at_s=at, source="agent")
    if agent.last_event("exit") is None:
        return None
    if agent.last_event("exception") is not None:
        return End(exit_code=1, at_s=at, source="agent")
    left = agent.last_event("sys.exit")
    code = 0 if left is None else (left.value & 0xFF) or int(left.text not in ("", "NoneType"))
    return End(exit_code=code, at_s=at, source="agent")


def _integer(text: str) -> int | None:
    try:
        return int(text) if len(text) < 12 else None
    except ValueError:
        return None
