"""What is captured of a job while it runs and when it fails; each failure of a capture becomes a Missing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from diagnostics.diagnosis.signature import Match
from diagnostics.machine.execution.output_relay import JobStreams
from diagnostics.machine.processes.debugger_tools import running_tools
from diagnostics.machine.processes.job_processes import JobTree, Member
from diagnostics.record.record import BEFORE
from diagnostics.record.supervisor_facts import Missing, Stall
from diagnostics.supervisor.capture.core_dumps import capture_core_dumps
from diagnostics.supervisor.capture.exception_flag import ExceptionFlag
from diagnostics.supervisor.capture.host_facts import HostFacts, at_start
from diagnostics.supervisor.capture.pre_signal_state import EXPECTED, keep_state
from diagnostics.supervisor.capture.run_folder import RunFolder
from diagnostics.supervisor.capture.snapshot import snapshot
from diagnostics.supervisor.capture.sources import collect_sources
from diagnostics.supervisor.facts_file import JobFactsFile
from diagnostics.supervisor.hang.monitor import HangMonitor
from diagnostics.supervisor.hang.progress import JobProgress, waits_for_orders
from diagnostics.supervisor.hang.stall_detector import StallState
from diagnostics.supervisor.provisional_report import ProvisionalReport
from diagnostics.supervisor.running_notes import NO_WISHES, EndWishes, RunningNotes
from diagnostics.supervisor.side_work import SideWork
from diagnostics.supervisor.working_folder import working_folder

MOST_SNAPSHOTS = 3  # after deaths; a job whose helpers fail by design is not looked at again and again
SNAPSHOT_S = 5.0
CORES_S = 12.0
SOURCES_S = 60.0  # up to 200 files of half a megabyte, secrets hidden, on a disk of another machine
AT_ONCE_S = 5.0  # a signal to us as long after the job began to move was sent to both
IN_WORK_S = 0.5  # a signal to the job waits as long for a look that has begun, and for the copies of its output
LOOK_S = 0.25
PROVISIONAL_S = 30.0  # a report about a stall that goes on is made again after this time


class CaptureController:
    """The captures of one job. Nothing here raises, and nothing but `facts_at_end` and `leftovers` waits."""

    def __init__(
        self,
        place: RunFolder,
        file: JobFactsFile,
        stall_timeout_s: float,
        command: Sequence[str],
        say: Callable[[str], None],
        *,
        kill: bool,
        now: Callable[[], float],
        stop_asked: Callable[[], bool] = lambda: False,
        wishes: EndWishes = NO_WISHES,
    ) -> None:
        self._place, self._file, self._kill = place, file, kill
        self._report = ProvisionalReport(place.folder, say)
        self._notes = RunningNotes(place.record, place.agents, say, wishes, stop_asked)
        self._hangs = HangMonitor(place, now, self._note)
        self._around: HostFacts | None = None
        self._progress = None if waits_for_orders(tuple(command)) else JobProgress(place.agents, stall_timeout_s)
        self._raising, self._raised = ExceptionFlag(place.agents), set[int]()
        self._pauses_s = self._next_look = self._next_provisional = 0.0
        self._progress_at_end: tuple[Stall, ...] = ()
        self._now, self._ended_s, self._told_stall = now, float("-inf"), False
        self._withdraw_s, self._stalled_at_step, self._kept_s = float("inf"), 0, float("-inf")
        self._stalls_told: tuple[Stall, ...] = ()
        self._told_s = float("inf")
        self._prepared: Stall | None = None
        self._wants_end, self._is_ending = "", False
        self._taken = 0
        self._work = SideWork(self._note, stop_asked)
        self._dumped: list[Member] = []
        self._keeping = threading.Lock()

    def start(self) -> None:
        """Takes the facts of now."""
        self._work.guard("surroundings", self._open_surroundings)

    def facts(self) -> Mapping[str, Any]:
        """Returns what is known of the machine, for SupervisorFacts."""
        return self._around.facts if self._around is not None else {}

    def stalls(self) -> tuple[Stall, ...]:
        """Returns the times without progress."""
        return self._progress.stalls if self._progress is not None else self._progress_at_end

    @property
    def answers(self) -> Mapping[str, Match | None]:
        """What the signatures said about the state that was kept last."""
        return self._report.answers

    @property
    def wants_end(self) -> str:
        """Why the job is to be ended, as ended_by has it: "deadlock", "stall-timeout", as the user wishes; or ""."""
        return self._notes.wants_end or (self._wants_end if self._kill else "")

    def last_look(self, tree: JobTree) -> None:
        """Looks at a job that is about to be ended for standing still, and waits: nothing of it is left after."""
        self._work.join(SNAPSHOT_S)
        self._work.begin(lambda: self._snapshot(tree.living(), "stall"))
        self._work.join(SNAPSHOT_S)

    def ending(self, streams: JobStreams | None, *, asked: bool) -> None:
        """The job is about to be ended: keeps its state, and what it does from now on is no progress.

        `asked`: by somebody else, who may have asked the job, too.
        """
        self._work.join(IN_WORK_S)  # a look that has begun; a report that is being written is not waited for in full
        if streams is not None:
            self._work.guard("output", lambda: streams.write_copies(IN_WORK_S))
        if not (asked and self._kept_in_this_stall()):
            self._work.guard("state", self._keep_state)
        with self._keeping:
            self._is_ending = True
        self._progress_at_end = self.stalls()
        self._progress = None

    def _kept_in_this_stall(self) -> bool:
        """Whether the state kept with the provisional report is the one to keep.

        A batch system sends its signal to all processes at once: what moved just now is teardown, and what moved not at
        all is still as it was. Only what happened in between, a rank that died a while ago, makes it old.
        """
        if self._progress is None or not self._told_stall or self._progress.steps > self._stalled_at_step:
            return False
        moved_s = max(self._ended_s, self._progress.quiet_since_s)
        old = self._kept_s < moved_s < self._now() - AT_ONCE_S
        return not old and (self._place.record / BEFORE).is_dir()

    def paused(self, seconds: float) -> None:
        """Leaves out the time in which the user had stopped everything."""
        self._pauses_s += seconds

    def ended(self, member: Member, tree: JobTree) -> None:
        """Looks at the others where a process of theirs has failed; not where the doctor ends it: they are leaving."""
        self._ended_s = self._now()
        if member.status is not None and os.WCOREDUMP(member.status):
            self._dumped.append(member)
        if self._is_ending or member.status == 0 or not self._counts(member):
            return
        self._notes.failed(member)
        # What its peers did when it raised tells more than what they do now.
        if self._taken >= MOST_SNAPSHOTS or member.pid in self._raised:
            return
        if len(tree.living()) > 0 and self._work.begin(
            lambda: self._snapshot(tree.living(), f"pid {member.pid} ended")
        ):
            self._taken += 1

    def leftovers(self, tree: JobTree) -> None:
        """Looks at what a job has left, before it is ended; waits for it."""
        self._work.join(SNAPSHOT_S)
        self._work.begin(lambda: self._snapshot(tree.living(), "left over"))
        self._work.join(SNAPSHOT_S)

    def look(self, at_s: float, tree: JobTree, streams: JobStreams | None) -> None:
        """Looks for progress; starts a provisional report where there is none."""
        if at_s < self._next_look or self._progress is None:
            return
        self._next_look = at_s + LOOK_S
        self._work.guard("progress", lambda: self._judge(at_s, tree, streams))

    def facts_at_end(self, pids: Collection[int]) -> Mapping[str, Any]:
        """Returns what is known of the machine after the job; reads the cores it left. Ends what is provisional."""
        self._work.join(SNAPSHOT_S)
        self._report.close()
        self._work.guard("usage", self._notes.close)
        dead = {member.pid: Path(member.cwd or "/") for member in self._dumped}
        if dead:
            self._work.begin(
                lambda: self._note(capture_core_dumps(dead, self._place.record, self._file.started_ns, CORES_S))
            )
            self._work.join(CORES_S + SNAPSHOT_S)
        if (around := self._around) is not None:
            self._work.guard("surroundings", lambda: around.facts_at_end(pids))
        return self.facts()

    def keep_sources(self, argvs: Sequence[Sequence[str]]) -> None:
        """Copies the user's files that are named in call paths and command lines."""
        self._work.join(SOURCES_S)  # a report that comes too late may still be in the making
        begun = self._work.begin(lambda: self._note(collect_sources(self._place.record, working_folder(), argvs)))
        self._work.join(SOURCES_S)
        if not begun or self._work.is_on:
            self._note([Missing(what="sources", why="they were not all copied in time")])

    def close(self) -> None:
        """Ends what watches the machine."""
        if self._around is not None:
            self._around.close()

    def _open_surroundings(self) -> None:
        self._around = at_start(self._place.record, working_folder())
        self._file.surround(self._around.facts)

    def _judge(self, at_s: float, tree: JobTree, streams: JobStreams | None) -> None:
        if self._progress is None:
            return
        tools = running_tools()
        living = {pid: start for pid, start in tree.living().items() if pid not in tools}
        if self._around is not None:
            self._around.saw(living)
        steps = self._progress.most_steps
        self._work.guard("usage", lambda: self._notes.saw(at_s, lambda: self._ranks_first(living), steps))
        self._look_at_peers(self._raising.look(living), living)
        said = self._progress.look(at_s - self._pauses_s, living, streams.count() if streams is not None else 0)
        tree.changed |= said.report or said.withdraw
        if said.end:
            self._wants_end = self._wants_end or "stall-timeout"
        self._prepare_or_want(at_s, said, living, streams)
        # Before any look at the same processes: only one piece of work goes on at a time, and this one is waited for.
        due = said.stall is not None and at_s >= self._next_provisional
        if due and self._work.begin(lambda: self._provisional(living, streams)):
            self._next_provisional = at_s + PROVISIONAL_S
        self._watch_hangs(at_s, said, living, streams)
        if said.stall is None and self._notes.is_due(at_s) and self._work.begin(self._notes.look):
            self._notes.begun(at_s)
        if said.report:
            self._told_stall, self._stalled_at_step = True, self._progress.steps
            self._stalls_told, self._told_s = self.stalls(), self._now()
            if said.near == self._prepared:
                self._kept_s = self._told_s  # shortly before, and nothing has moved since
        if said.withdraw:
            self._withdraw_s = at_s + AT_ONCE_S  # a job that is being ended by somebody moves, too
        if said.stall is not None:
            self._withdraw_s = float("inf")
        if at_s >= self._withdraw_s:
            self._withdraw()

    def _prepare_or_want(
        self, at_s: float, said: StallState, living: Mapping[int, int], streams: JobStreams | None
    ) -> None:
        """Has the report of a stall made shortly before it is one, and written when it is."""
        stall = said.near
        if stall is None:
            return
        if said.report and stall == self._prepared:
            self._next_provisional = at_s + PROVISIONAL_S
            self._work.guard("captures", lambda: self._report.want(stall))
        elif said.report:
            self._next_provisional = at_s
        elif stall != self._prepared and self._work.begin(lambda: self._prepare(stall, living, streams)):
            self._prepared = stall

    def _prepare(self, stall: Stall, living: Mapping[int, int], streams: JobStreams | None) -> None:
        turn = self._report.turn
        try:
            self._look_at_all(living, streams)
            self._keep_state(stall)
            self._report.prepare(turn, stall)
        except Exception:  # it is made when there is a stall, then
            self._prepared, self._next_provisional = None, 0.0
            raise

    def came_to_a_good_end(self) -> None:
        """Takes back at once what was said of a stall, where the job went on and ended within the time to wait."""
        if self._told_stall:
            self._withdraw()

    def _withdraw(self) -> None:
        self._withdraw_s, self._told_stall = float("inf"), False
        self._report.withdraw()

    def _look_at_peers(self, raised: Sequence[int], living: Mapping[int, int]) -> None:
        """Looks at the others as soon as a process has raised the exception that will end it."""
        if not raised or self._taken >= MOST_SNAPSHOTS:
            return
        if self._work.begin(lambda: self._snapshot(living, f"pid {raised[0]} raised")):
            self._taken += 1
            self._raised.update(raised)

    def _watch_hangs(
        self, at_s: float, said: StallState, living: Mapping[int, int], streams: JobStreams | None
    ) -> None:
        if self._progress is None:
            return
        had = self._hangs.proof
        ranks, since_s = self._ranks_first(living), self._progress.quiet_since_s
        work = self._hangs.due(at_s, since_s, said.patience_s, ranks, stalled=said.stall is not None)
        if had is not None and self._hangs.proof is None:
            self._file.set(proved=())
        if work is not None:
            self._work.begin(lambda: self._look_into(work, living, streams))

    def _look_into(self, work: Callable[[], None], living: Mapping[int, int], streams: JobStreams | None) -> None:
        had = self._hangs.proof
        work()
        proof = self._hangs.proof
        if proof is None or proof is had or self._is_ending:
            return
        self._file.set(proved=(proof.hang,))
        self._file.write()
        if self._kill and not proof.recovers:
            turn = self._report.turn
            self._snapshot(living, "deadlock")
            self._keep_state()
            self._wants_end = "deadlock"
            self._report.tell(turn, ended=True)  # meanwhile: launchers take a second or more to end
        elif not proof.recovers:  # who catches the timeout that is coming may go on: nothing to be told yet
            self._provisional(living, streams)

    def _provisional(self, living: Mapping[int, int], streams: JobStreams | None) -> None:
        turn = self._report.turn
        self._look_at_all(living, streams)
        if self._kept_s > self._told_s and self._now() - self._ended_s < AT_ONCE_S:
            return  # somebody ends the job just now: what was kept and told of this stall stands
        self._keep_state()
        self._report.tell(turn)

    def _look_at_all(self, living: Mapping[int, int], streams: JobStreams | None) -> None:
        self._snapshot(living, "stall")
        if streams is not None:  # they are gone where the job has ended meanwhile
            self._work.guard("output", lambda: streams.write_copies(SNAPSHOT_S))

    def _keep_state(self, expected: Stall | None = None) -> None:
        """Keeps the state of now, unless the job was asked to end: then the one before that stays.

        `expected`: a stall that is about to be one.
        """
        with self._keeping:
            if not self._is_ending:
                self._file.set(stalls=self.stalls())
                stalls = self._stalls_told if self._is_told() else self.stalls()
                stalls = stalls if expected is None else (*stalls, expected)
                name = BEFORE if expected is None else EXPECTED
                self._note(keep_state(self._place, replace(self._file.facts(), stalls=stalls), name))
                self._kept_s = self._now() if expected is None else self._kept_s

    def _is_told(self) -> bool:
        """Whether the state is that of a stall which was told. A job that somebody ends while it is looked at moves."""
        told = self._told_stall and self._now() < self._withdraw_s
        return told and self._progress is not None and self._progress.steps <= self._stalled_at_step

    def _snapshot(self, living: Mapping[int, int], reason: str) -> None:
        self._note(snapshot(self._ranks_first(living), self._place.record, reason, SNAPSHOT_S))

    def _ranks_first(self, living: Mapping[int, int]) -> dict[int, int]:
        return dict(sorted(living.items(), key=lambda item: not self._place.is_watched(*item)))

    def _counts(self, member: Member) -> bool:
        """Whether a failed process may be why a job fails: killed by a signal, or a rank, or watched."""
        by_signal = member.status is not None and os.WIFSIGNALED(member.status)
        return by_signal or bool(member.variables) or self._place.is_watched(member.pid, member.start_ticks)

    def _note(self, missing: Sequence[Missing]) -> None:
        self._file.missing += [one for one in missing if one not in self._file.missing]
