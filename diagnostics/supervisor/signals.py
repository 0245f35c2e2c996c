"""Signals to the doctor while a job runs, in the order they came; nothing is interrupted by them.

While the job lives, what they mean is up to the loop that follows it. Who asks to stop once it is over, or asks again
while it is being ended, is in haste: all that is left to do ends by `end_by_s`.

How a job is ended: asked, asked again, killed, with time between.

Sends signals to the processes of a job and notes whom they reached, so that no one else is blamed for them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any

from diagnostics.machine.processes.job_processes import JobTree, signal_all
from diagnostics.record.supervisor_facts import SentSignal
from diagnostics.supervisor.facts_file import JobFactsFile

# A job that saves a checkpoint when it is asked to end needs its time; Slurm and Kubernetes give 30 s in all.
GRACE_S = {signal.SIGINT: 10.0, signal.SIGTERM: 20.0, signal.SIGHUP: 10.0, signal.SIGQUIT: 10.0}
SECOND_GRACE_S = 5.0
DEADLOCK_GRACE_S = 2.0  # for threads that still write, and launchers that end their ranks
KILL_GRACE_S = 5.0  # what has not ended by then waits inside the kernel
KILL_AGAIN_S = 0.2  # a process may fork between the look and the signal

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP)
HURRIED_S = 2.0  # for all that is left to do, so that the command ends within 3 s


class SignalInbox:
    """Collects signals while its `with` block runs; those ignored before, as under nohup, stay ignored."""

    def __init__(self) -> None:
        self.fd, self._wakeup = os.pipe()
        for fd in (self.fd, self._wakeup):
            os.set_blocking(fd, False)
        self._before: dict[int, Any] = {}
        self._before_fd = -1
        self._seen: list[signal.Signals] = []  # read and not taken yet
        self.asked: signal.Signals | None = None  # the first that asked to stop
        self.end_by_s: float | None = None  # time.monotonic(); None while there is no haste

    def __enter__(self) -> SignalInbox:
        self._before_fd = signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        for number in (*INTERRUPTS, *_PASSED_ON, signal.SIGCHLD):
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD:
                self._before[number] = signal.signal(number, _noted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        signal.set_wakeup_fd(self._before_fd)
        os.close(self.fd)
        os.close(self._wakeup)

    def take(self) -> list[signal.Signals]:
        """Returns the signals since the last call, oldest first."""
        self._read()
        taken, self._seen = self._seen, []
        return taken

    def stop_asked(self) -> bool:
        """Whether there is haste, or a signal that asks to stop was not taken yet: nothing is to be waited for."""
        self._read()
        return self.end_by_s is not None or any(number in INTERRUPTS for number in self._seen)

    def hurry(self) -> None:
        """From now on there is haste."""
        if self.end_by_s is None:
            self.end_by_s = time.monotonic() + HURRIED_S

    def is_over(self) -> bool:
        """Whether the time that haste leaves is used up."""
        return self.end_by_s is not None and time.monotonic() >= self.end_by_s

    def until_s(self) -> float | None:
        """After the job: takes the signals, and returns `end_by_s` by them."""
        if any(number in INTERRUPTS for number in self.take()):
            self.hurry()
        return self.end_by_s

    def _read(self) -> None:
        try:
            new = [signal.Signals(number) for number in os.read(self.fd, 4096) if number < signal.SIGRTMIN]
        except BlockingIOError:
            return
        self._seen += new
        self.asked = self.asked or next((number for number in new if number in INTERRUPTS), None)


def _noted(number: int, frame: FrameType | None) -> None:
    """Does nothing: the number was written to the wakeup descriptor."""


class Escalation:
    """Says which signal is due. `is_on` from the first one on."""

    def __init__(self) -> None:
        self.is_on = False
        self._steps: list[tuple[float, signal.Signals]] = []
        self._over_at = float("inf")
        self._hurried = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be done."""
        return time.monotonic() > self._over_at

    def begin(self, number: signal.Signals, *, deadlocked: bool = False) -> None:
        """Starts after `number` was sent. Ranks in a deadlock can save nothing any more."""
        grace_s = DEADLOCK_GRACE_S if deadlocked else GRACE_S.get(number, SECOND_GRACE_S)
        now = time.monotonic() + grace_s
        self.is_on = True
        self._steps = [(now, signal.SIGKILL)]
        if number != signal.SIGTERM:
            self._steps = [(now, signal.SIGTERM), (now + SECOND_GRACE_S, signal.SIGKILL)]

    def begin_with(self, number: signal.Signals) -> None:
        """Starts with `number` itself, for what a job has left."""
        now = time.monotonic()
        self.is_on = True
        self._steps = [(now, number), (now + SECOND_GRACE_S, signal.SIGKILL)]

    def hurry(self) -> None:
        """Makes the next signal due at once, and the following one a second later."""
        self._hurried = True
        now = time.monotonic()
        self._steps = [(now + index, number) for index, (_, number) in enumerate(self._steps)]

    def hurry_once(self) -> None:
        """Hurries where nobody has asked to before."""
        if not self._hurried:
            self.hurry()

    def next_signal(self) -> signal.Signals | None:
        """Returns the signal that is due now; each once, but SIGKILL until nothing is left."""
        now = time.monotonic()
        if not self._steps or now < self._steps[0][0]:
            return None
        _, number = self._steps.pop(0)
        if number == signal.SIGKILL:
            self._over_at = min(self._over_at, now + KILL_GRACE_S)
            self._steps = [(now + KILL_AGAIN_S, signal.SIGKILL)]
        return number


class SignalLog:
    """One job: its process group and its tree. `why` is noted with each signal from then on."""

    def __init__(
        self,
        tree: JobTree,
        group: int,
        file: JobFactsFile,
        now: Callable[[], float],
        to_end: Callable[[], Mapping[int, int]],
    ) -> None:
        self._tree, self._group, self._file, self._now, self._to_end = tree, group, file, now, to_end
        self.why = "leftover"

    def pass_on(self, number: signal.Signals) -> None:
        """Sends what the user sent to the job's group; nobody is blamed for that."""
        try:
            os.killpg(self._group, number)
        except (ProcessLookupError, PermissionError):  # all of it has ended
            return

    def to_group(self, number: signal.Signals) -> None:
        """Sends to the job's group, as a terminal does."""
        reached = [pid for pid in self._tree.living() if _group_of(pid) == self._group]
        self.pass_on(number)
        self._note(reached, number)

    def to_all(self, number: signal.Signals) -> None:
        """Sends to every process of the job but those that have left it."""
        self._tree.look()
        reached = signal_all(list(self._to_end().items()), number)
        if number != signal.SIGKILL:
            signal_all(list(self._to_end().items()), signal.SIGCONT)  # one that is stopped hears nothing
        self._note(reached, number)

    def _note(self, pids: Sequence[int], number: signal.Signals) -> None:
        at_s = round(self._now(), 3)
        known = {(one.pid, one.signal, one.why) for one in self._file.sent}
        for pid in pids:
            if (pid, int(number), self.why) not in known:
                self._file.sent.append(SentSignal(pid=pid, signal=int(number), at_s=at_s, why=self.why))
        self._tree.changed = True


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0
