"""One job from its start to its end: an event loop over signals, ends of processes and the clock."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence

from diagnostics.machine.execution.child_process import new_mark
from diagnostics.machine.execution.folder_watch import FolderWatch
from diagnostics.machine.execution.output_relay import JobStreams
from diagnostics.machine.execution.terminal import Terminal
from diagnostics.machine.processes.job_processes import OWN, JobTree, signal_all
from diagnostics.machine.processes.pidfds import adopt_orphans
from diagnostics.record.supervisor_facts import ENDED_FOR_HANGING, Missing
from diagnostics.supervisor.background_jobs import background_jobs
from diagnostics.supervisor.background_services import Leftovers, Wish
from diagnostics.supervisor.capture.run_folder import RunFolder
from diagnostics.supervisor.captures import CaptureController
from diagnostics.supervisor.facts_file import JobFactsFile, end_of
from diagnostics.supervisor.job_control import JobControl
from diagnostics.supervisor.running_notes import EndWishes
from diagnostics.supervisor.signals import INTERRUPTS, Escalation, SignalInbox, SignalLog
from diagnostics.supervisor.start import environment, not_started, open_streams, raise_open_files, spawn
from diagnostics.supervisor.unwatched import fault, wait_plainly
from diagnostics.supervisor.working_folder import working_folder

FIRST_LOOK_S, LONGEST_LOOK_S = 0.05, 1.0  # between two looks at /proc; each new process makes it short again
AGENT_LOOK_S = 0.05  # at the earliest again, however many processes start
LOOK_SHARE = 0.004  # of one CPU
SAME_INTERRUPT_S = 0.3  # a Ctrl-C that reaches us twice is one
BACKGROUND_LOOK_S = 0.25
HURRIED_DRAIN_S = 0.5  # for the end of the output
LEFTOVER_S = 0.5  # what is about to end by itself: resource trackers, ranks that lost their launcher


class EventLoop:
    """Watches one job. After `run`, `file` holds the facts, `captures` what was captured."""

    def __init__(
        self,
        command: Sequence[str],
        place: RunFolder,
        signals: SignalInbox,
        *,
        stall_timeout_s: float,
        kill: bool,
        backend_debug: bool,
        deep: bool,
        local_values: bool,
        background: Wish,
        wishes: EndWishes,
        say: Callable[[str], None],
    ) -> None:
        self._background = background
        self._command, self._place, self._signals, self._say = list(command), place, signals, say
        self._deep, self._backend_debug = deep, backend_debug
        self._local_values = local_values
        self._began = time.monotonic()
        self.file = JobFactsFile(
            place.record / "job.json",
            command=command,
            cwd=str(working_folder()),
            started_ns=time.time_ns(),
            python=sys.executable,
        )
        self.captures = CaptureController(
            place, self.file, stall_timeout_s, self._command, say, kill=kill, now=self._now,
            stop_asked=signals.stop_asked, wishes=wishes)  # fmt: skip
        self._poll = select.epoll()
        self._ending = Escalation()
        self._argvs: list[Sequence[str]] = []
        self._interrupted_at = float("-inf")
        self._in_background = False
        self._stays: list[int] = []
        self._next_look = self._look_apart = self._looked_at = 0.0
        self._new_agents = FolderWatch(place.agents)

    def run(self) -> int:
        """Runs the job to its end and ends what it left; returns its exit code. Raises NotStartedError."""
        os.environ[OWN] = str(os.getpid())
        adopt_orphans()
        self._poll.register(self._signals.fd, select.EPOLLIN)
        if self._new_agents.fd is not None:
            self._poll.register(self._new_agents.fd, select.EPOLLIN)
        try:
            with Terminal() as terminal:
                self._terminal = terminal
                self.captures.start()
                self._start()
                try:
                    self._follow()
                    self._follow_background()
                    self._end_leftovers()
                except Exception as error:  # a fault of ours is never the job's
                    self.file.missing.append(fault(error))
                    self._say("ups-doctor: a fault of the doctor's own; the job goes on, and is no longer watched")
                    self.file.set(**wait_plainly(self._tree.root, self._signals, self._now))
            return self._finish()
        finally:
            os.environ.pop(OWN, None)
            adopt_orphans(wanted=False)
            self.captures.close()
            self._new_agents.close()
            self._poll.close()

    def keep_sources(self) -> None:
        """Copies the user's files that the record names into it; after the agents' files are in their place."""
        self.captures.keep_sources([self._command, *self._argvs])
        self.file.surround(self.captures.facts())
        self.file.write()

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _start(self) -> None:
        self._streams: JobStreams | None = None
        try:
            self._streams = open_streams(self._place)
        except OSError as error:
            self.file.missing.append(Missing(what="output", why=f"no relay: {error}"))
        mark = new_mark()
        environ = environment(
            self._place,
            self._streams,
            mark,
            backend_debug=self._backend_debug,
            deep=self._deep,
            local_values=self._local_values,
        )
        try:
            process = spawn(self._command, environ, self._streams)
        except OSError as error:
            problem = not_started(self._command[0], error, self._place, self._streams)
            self.file.set(exit_code=problem.exit_code, ended_s=0.0)
            self.file.surround(self.captures.facts_at_end(()))
            self.file.write()
            raise problem from error
        process.returncode = 0  # we wait for it ourselves
        self._began = time.monotonic()
        self._group = process.pid
        self._tree = JobTree(process.pid, self._command, mark, self._poll, self._now)
        output = self._streams.files if self._streams is not None else frozenset
        self._left = Leftovers(self._tree, self._background, self._place.agents, output)
        self._sending = SignalLog(self._tree, self._group, self.file, self._now, self._left.to_end)
        self._control = JobControl(self._terminal, self._tree, self._sending, self.captures.paused, self._now)
        if self._streams is not None:
            self._streams.job_has_started()
        raise_open_files()
        self._note()

    def _follow(self) -> None:
        """Goes on until the job's first process has ended."""
        while self._tree.root.ended_s is None:
            self._step(0.25)
            self._end_hang()
        self.file.set(ended_s=round(self._tree.root.ended_s, 3))
        end = end_of(self._tree.root)
        if end is not None:
            self.file.set(exit_code=end.exit_code, signal=end.signal)
            if end.exit_code == 0:
                self.captures.came_to_a_good_end()
            # Ctrl-C while the job had the terminal: it went to the job alone, as without us.
            if self._terminal.is_given and end.signal == signal.SIGINT and not self._ending.is_on:
                self.file.set(ended_by="interrupt")

    def _follow_background(self) -> None:
        """Goes on with what trains in the background, where the command has ended well."""
        until = self._now() + LEFTOVER_S
        self._tree.look()
        wanted = self._tree.root.status == 0 and self._background == "services stay"
        while wanted and not self._ending.is_on:
            pids = background_jobs(self._tree.members.values(), self._place.agents, self._left.to_end())
            if pids and not self._in_background:
                self._in_background = True
                self._terminal.take_back()
                said = f"{len(pids)} training process" + (
                    "es go on; watching them" if len(pids) > 1 else " goes on; watching it"
                )
                self._say(f"ups-doctor: CMD has ended, {said}")
            if not pids and (self._now() > until or not self._tree.living()):
                break
            until = self._now() + LEFTOVER_S if pids else until
            seen_until = self._now() + BACKGROUND_LOOK_S
            before = len(self._tree.living())
            while self._now() < seen_until and not self._ending.is_on and len(self._tree.living()) == before:
                self._step(BACKGROUND_LOOK_S if pids else 0.05)
                self._end_hang()
        if self._in_background:
            self.file.set(ended_s=round(self._now(), 3))

    def _end_hang(self) -> None:
        """Ends a job that will not go on, where that is known and wanted."""
        why = self.captures.wants_end
        if not why or self._ending.is_on:
            return
        if why == "stall-timeout":  # a deadlock was looked at when it was proved
            self.captures.last_look(self._tree)
        self._begin_ending(why, signal.SIGTERM)

    def _step(self, longest_s: float) -> None:
        """Waits for the next event and takes it."""
        for fd, _ in self._poll.poll(max(0.0, min(longest_s, self._next_look - self._now()))):
            if fd == self._new_agents.fd:
                self._new_agents.clear()  # a Python process has started
                self._next_look = min(self._next_look, max(self._now(), self._looked_at + AGENT_LOOK_S))
            elif self._tree.owns(fd) and (ended := self._tree.ended(fd)) is not None:
                self.captures.ended(ended, self._tree)
                self._look_apart = 0.0
        for number in self._signals.take():
            self._take_signal(number)
        if self._now() >= self._next_look:
            self._look()
        if self._terminal.is_given and self._terminal.size_changed():
            self._take_signal(signal.SIGWINCH)
        self.captures.look(self._now(), self._tree, self._streams)
        self._go_on_ending()
        if self._tree.changed and self.file.due():
            self._note()

    def _look(self) -> None:
        began = time.thread_time()
        self._looked_at = self._now()
        before = len(self._tree.members)
        self._tree.look()
        cost = time.thread_time() - began
        new = len(self._tree.members) > before
        self._look_apart = FIRST_LOOK_S if new else min(max(FIRST_LOOK_S, self._look_apart * 1.5), LONGEST_LOOK_S)
        self._next_look = self._now() + max(self._look_apart, cost / LOOK_SHARE)

    def _note(self) -> None:
        self.file.see(self._tree.members.values())
        self.file.surround(self.captures.facts())
        self.file.set(stalls=self.captures.stalls())
        self.file.write()
        self._tree.changed = False

    def _take_signal(self, number: signal.Signals) -> None:
        if number in INTERRUPTS:
            self._interrupt(number)
        elif number == signal.SIGCHLD:
            self._control.see_stop()
        elif number == signal.SIGTSTP:
            self._sending.pass_on(number)
            self._control.pause()
        elif number in (signal.SIGUSR1, signal.SIGUSR2):
            signal_all([(self._tree.root.pid, self._tree.root.start_ticks)], number)
        else:  # SIGWINCH, SIGCONT
            if number == signal.SIGWINCH and self._streams is not None:
                self._streams.resize()
            self._sending.pass_on(number)

    def _interrupt(self, number: signal.Signals) -> None:
        now = time.monotonic()
        if now - self._interrupted_at < SAME_INTERRUPT_S:
            return
        self._interrupted_at = now
        if self._ending.is_on:
            self._ending.hurry()
            self._signals.hurry()
        elif self._tree.root.ended_s is None or self._in_background:
            self._begin_ending("interrupt", number)
            if number == signal.SIGINT:
                self._say("ups-doctor: Ctrl-C was passed on to the job; once more ends it at once")
        else:  # it is over: what it has left is ended at once
            self._signals.hurry()

    def _begin_ending(self, why: str, number: signal.Signals) -> None:
        self.file.set(ended_by=why)
        self._sending.why = why
        self._note()
        self._left.stop(hung=why in ENDED_FOR_HANGING)
        self.captures.ending(self._streams, asked=why == "interrupt")
        self._ending.begin(number, deadlocked=why == "deadlock")
        # In the background they may have left the group, and it may be somebody else's by now. The ranks of a
        # deadlock hear of nothing from a launcher that waits for them.
        if self._in_background or why == "deadlock":
            self._sending.to_all(number)
        else:
            self._sending.to_group(number)

    def _go_on_ending(self) -> None:
        number = self._ending.next_signal()
        if number is not None:
            self._sending.to_all(number)

    def _end_leftovers(self) -> None:
        """Ends what is left of the job: asks, waits, kills."""
        self._terminal.take_back()
        if not self._ending.is_on:
            self._sending.why = "leftover"
        until = (self._tree.root.ended_s or 0.0) + LEFTOVER_S
        self._tree.look()
        while self._left.to_end() and self._now() < until:
            self._next_look = min(self._next_look, self._now() + FIRST_LOOK_S)
            self._step(0.05)
        left = self._left.to_end()
        if left:
            self.captures.leftovers(self._tree)
            self._sending.why = "leftover"
            for line in self._left.said_of_ended(left):
                self._say(f"ups-doctor: {line}")
            self._ending.begin_with(signal.SIGTERM)
        while self._left.to_end() and not self._ending.is_over and not self._signals.is_over():
            if self._signals.end_by_s is not None:
                self._ending.hurry_once()
            self._next_look = min(self._next_look, self._now() + FIRST_LOOK_S)
            self._step(0.05)
        stubborn = self._left.to_end()
        if stubborn:
            pids = ", ".join(map(str, stubborn))
            self.file.missing.append(Missing(what=f"the end of pid {pids}", why="it cannot be killed"))
        self._stays = [pid for pid in self._tree.living() if pid not in stubborn]
        for line in self._left.said_of_others(self._stays):
            self._say(f"ups-doctor: {line}")

    def _finish(self) -> int:
        if self._streams is not None:
            streams = self._streams
            if self._stays and self._left.writing(self._stays):
                streams.leave()
            elif not streams.finish(self._drain_limit):
                self.file.missing.append(Missing(what="output", why="the relay was ended before it had passed on all"))
            if streams.lost_bytes:
                lost = f"{streams.lost_bytes} bytes could not be written to our own output: its disk is full"
                self.file.missing.append(Missing(what="output", why=lost))
        if self._stays:
            self._place.close_agents()
        self._tree.settle()
        self._argvs = [member.argv for member in self._tree.members.values()]
        self.file.surround(self.captures.facts_at_end([pid for pid, _ in self._tree.members]))
        self.file.see(self._tree.members.values())
        self.file.set(stalls=self.captures.stalls())
        self.file.write()
        status = self._tree.root.status or 0
        return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)

    def _drain_limit(self) -> float | None:
        """Returns how long the end of the output may take: for ever, unless somebody asked to stop."""
        self._signals.until_s()
        if self._signals.end_by_s is not None:
            return HURRIED_DRAIN_S
        return 2.0 if self._ending.is_on else None
