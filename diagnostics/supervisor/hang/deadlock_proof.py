"""Proves, while a job runs, that ranks of it wait for ever: two equal snapshots, and nothing moved between them.

    proof = HangProof(place, samples)
    if proof.is_due(at_s, quiet_since_s, living): found = proof.attempt(living, now, still_quiet)

What each rank waits in is told by the agents' files, and by the stacks and flight recorders that they write when they
are asked; `dynamic/collectives/wait_for_graph.py` decides. No length of time is proof: a rank that is outside any
operation of its group may always come. An attempt that fails is not repeated before something has changed, or only
ever more rarely.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from diagnostics.diagnosis.engine import job_from_record
from diagnostics.dynamic.collectives.rank_state import RankState
from diagnostics.dynamic.collectives.rank_state_builder import positions_of
from diagnostics.dynamic.collectives.timeout_recovery import may_time_out
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock, find_deadlock
from diagnostics.dynamic.job import cpu_shares
from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.machine.processes.proc_state import effort
from diagnostics.record.agent_data import AgentData
from diagnostics.record.record import RunRecord
from diagnostics.record.supervisor_facts import Missing, ProvedHang
from diagnostics.supervisor.capture.run_folder import RunFolder
from diagnostics.supervisor.capture.sampling import StallSamples
from diagnostics.supervisor.capture.snapshot import ask_agents

QUIET_S = 0.75  # without any record before the first attempt; how long is no part of the proof
GROUP_BEGUN = "process-group-begin"
BETWEEN_S = 0.3  # of the two snapshots
CPU_LOOK_S = 0.2
ANSWER_S = 0.4
ORPHANS_S = 15.0  # a data worker looks every 5 s whether its parent lives
LAUNCHER_S = 30.0  # after which the launcher of a failed rank will do nothing about the others
FIRST_RETRY_S, LONGEST_RETRY_S = 1.0, 15.0
MOST_SAVED_CPU_S = 0.2  # of the share that attempts may take, for those that come soon after one another
_TICK_S = 0.05
_CLOCK_TICK_S = 0.01  # as fine as the kernel tells


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A deadlock that was seen twice. `recovers`: the job catches the timeout that will end it, and may go on."""

    hang: ProvedHang
    recovers: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    deadlock: Deadlock
    job: Job
    files: Mapping[str, int]
    cpu_s: Mapping[int, float]
    at_work: frozenset[int]  # pids of those ranks on their way out that run, or wait for a CPU
    at_s: float


class DeadlockProver:
    """The prover of one job."""

    def __init__(self, place: RunFolder, samples: StallSamples) -> None:
        self._place, self._samples = place, samples
        self._tried: tuple[float, frozenset[int]] | None = None  # since when it was quiet, and who lived
        self._next_s = self._counted_s = 0.0
        self._cpu_left_s = MOST_SAVED_CPU_S
        self._apart_s = FIRST_RETRY_S
        self.missing: tuple[Missing, ...] = ()

    def is_due(self, at_s: float, quiet_since_s: float, living: Mapping[int, int]) -> bool:
        """Whether an attempt is worth its cost now."""
        earned_s = (at_s - self._counted_s) * cpu_shares.OURS
        self._cpu_left_s, self._counted_s = min(MOST_SAVED_CPU_S, self._cpu_left_s + earned_s), at_s
        if at_s - quiet_since_s < QUIET_S or self._cpu_left_s <= 0:
            return False
        return self._tried != (quiet_since_s, frozenset(living)) or at_s >= self._next_s

    def attempt(
        self, living: Mapping[int, int], quiet_since_s: float, now: Callable[[], float], still_quiet: Callable[[], bool]
    ) -> Proof | None:
        """Returns the proof that ranks of the job wait for ever, None where there is none. Takes about a second."""
        key = quiet_since_s, frozenset(living)
        self._apart_s = min(self._apart_s * 2, LONGEST_RETRY_S) if key == self._tried else FIRST_RETRY_S
        self._tried = key
        began = time.thread_time()
        try:
            return self._proof(living, now, still_quiet)
        finally:
            self._next_s = now() + self._apart_s
            self._cpu_left_s -= time.thread_time() - began

    def _proof(
        self, living: Mapping[int, int], now: Callable[[], float], still_quiet: Callable[[], bool]
    ) -> Proof | None:
        watched = [pid for pid in living if self._answers(pid, living[pid])]
        before = _cpu(watched)
        if not watched or not _wait(CPU_LOOK_S, still_quiet) or not _idle(before, _cpu(watched), CPU_LOOK_S):
            return None
        first = self._look(living, now)
        if first is None or not _wait(BETWEEN_S, still_quiet):
            return None
        second = self._look(living, now)
        if second is None or not still_quiet() or not _equal(first, second):
            return None
        lock = second.deadlock
        hang = ProvedHang(began_s=round(lock.began_s, 3), proved_s=round(now(), 3), ranks=lock.ranks)
        return Proof(hang=hang, recovers=may_time_out(second.job, lock))

    def _answers(self, pid: int, start_ticks: int) -> bool:
        """Whether it made a process group under the agent: then it has a pipe on which it can be asked."""
        return (self._place.agents / f"flight-{pid}-{start_ticks}.fifo").exists()

    def _look(self, living: Mapping[int, int], now: Callable[[], float]) -> _Look | None:
        """Asks all agents, reads what they wrote, and returns the deadlock that this shows."""
        self._take_sample(living, now)
        ask_agents(living, self._place.agents, ANSWER_S)
        cpu_s = _cpu(living)
        self._take_sample(living, now)
        at_s = now()
        self._place.copy_agents()
        record = RunRecord.load(self._place.record)
        job = job_from_record(record, ended=False)
        deadlock = find_deadlock(positions_of(job, at_s)) if _is_one_job(job) else None
        if deadlock is None or _launcher_acts(job, deadlock, at_s) or _connection_is_held(job, deadlock, at_s):
            return None
        leaving = (one.pid for one in deadlock.gone if (did := effort(one.pid)) is not None and did.wants_cpu)
        return _Look(deadlock=deadlock, job=job, files=self._sums(), cpu_s=cpu_s, at_work=frozenset(leaving), at_s=at_s)

    def _take_sample(self, living: Mapping[int, int], now: Callable[[], float]) -> None:
        self.missing = self._samples.take(living, now, stacks=False)

    def _sums(self) -> dict[str, int]:
        """Returns a sum over each agent's file: nothing that it records may change between two looks."""
        sums = {}
        for path in self._place.agents.glob("agent-*.bin"):
            try:
                sums[path.name] = zlib.crc32(path.read_bytes())
            except OSError:  # removed by the job
                continue
        return sums


def _launcher_acts(job: Job, deadlock: Deadlock, at_s: float) -> bool:
    """Whether a launcher may be about to end the ranks, or to start them anew: one that they need has failed."""
    launched = any(process.part is ProcessRole.LAUNCHER and process.end.at_s is None for process in job.processes)
    ended = (process for one in deadlock.gone if (process := job.of_rank(one.rank)) is not None and process.failed)
    return launched and any(process.end.at_s is not None and at_s - process.end.at_s < LAUNCHER_S for process in ended)


def _connection_is_held(job: Job, deadlock: Deadlock, at_s: float) -> bool:
    """Whether a child of a rank that has ended still has its connections open: the others fail when that one ends."""
    ended = [process for one in deadlock.gone if (process := job.of_rank(one.rank)) is not None]
    return any(
        child.end.at_s is None
        for process in ended
        if process.end.at_s is not None and at_s - process.end.at_s < ORPHANS_S
        for child in job.children_of(process)
    )


def _is_one_job(job: Job) -> bool:
    """Whether all ranks are of one job: a script may run two at once, and then a rank's number says nothing."""
    alive = [process.rank for process in job.processes if process.part is ProcessRole.RANK and process.end.at_s is None]
    meet_at = {_rendezvous(process.agent) for process in job.ranks if process.agent is not None} - {""}
    return len(alive) == len(set(alive)) and len(meet_at) <= 1


def _rendezvous(agent: AgentData) -> str:
    """Returns where a process went to make its group and of how many ranks; "" where it never did."""
    event = agent.last_event(GROUP_BEGUN)
    if event is None:
        return ""
    words, _, method = event.text.partition(" | ")
    told = [word for word in words.split() if word.startswith(("address=", "port=", "world_size="))]
    return " ".join([*told, method])


def _equal(first: _Look, second: _Look) -> bool:
    """Whether both looks show the same ranks in the same calls, and nothing went on between."""
    if (first.deadlock.knot, first.deadlock.ranks) != (second.deadlock.knot, second.deadlock.ranks):
        return False
    if first.files != second.files:
        return False
    if [_identity(one) for one in first.deadlock.positions] != [_identity(one) for one in second.deadlock.positions]:
        return False
    pids = {one.pid for one in second.deadlock.positions}
    before, after = ({pid: used for pid, used in look.cpu_s.items() if pid in pids} for look in (first, second))
    return _idle(before, after, second.at_s - first.at_s) and not _ends_just_now(first, second)


def _ends_just_now(first: _Look, second: _Look) -> bool:
    """Whether a rank that the others need is still at work on its way out: its end will end their waits."""
    pids = {one.pid for one in second.deadlock.gone} & first.cpu_s.keys() & second.cpu_s.keys()
    most_s = max(2 * _CLOCK_TICK_S, cpu_shares.POLLS * (second.at_s - first.at_s))
    return bool(pids & (first.at_work | second.at_work)) or any(
        second.cpu_s[pid] - first.cpu_s[pid] > most_s for pid in pids
    )


def _identity(one: RankState) -> object:
    """Returns what tells one call of a rank from the next one."""
    waits = tuple((wait.kind, wait.op, wait.group, wait.slot, wait.thread, wait.root, wait.key) for wait in one.waits)
    return one.rank, one.pid, one.stand, waits, dict(one.reached)


def _cpu(pids: Mapping[int, int] | list[int]) -> dict[int, float]:
    return {pid: found.cpu_s for pid in pids if (found := effort(pid)) is not None}


def _idle(before: Mapping[int, float], after: Mapping[int, float], apart_s: float) -> bool:
    """Whether the same processes are there, and none of them computed. Clock ticks of 10 ms are as fine as it gets."""
    most_s = max(0.05, cpu_shares.COMPUTES * apart_s)
    return before.keys() == after.keys() and all(after[pid] - before[pid] <= most_s for pid in before)


def _wait(seconds: float, while_true: Callable[[], bool]) -> bool:
    """Returns whether the condition held all the time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not while_true():
            return False
        time.sleep(_TICK_S)  # a look at a running job from outside: nothing tells when it goes on
    return while_true()
