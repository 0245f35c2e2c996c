"""What a shell does where its jobs are stopped: gives the terminal, stops with the job, goes on with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from diagnostics.machine.execution.terminal import Terminal
from diagnostics.machine.processes.job_processes import JobTree
from diagnostics.supervisor.signals import SignalLog


class JobControl:
    """One job on one terminal. `paused` is told for how long we were stopped."""

    def __init__(
        self,
        terminal: Terminal,
        tree: JobTree,
        sending: SignalLog,
        paused: Callable[[float], None],
        now: Callable[[], float],
    ) -> None:
        self._terminal, self._tree, self._sending = terminal, tree, sending
        self._paused, self._now = paused, now

    def see_stop(self) -> None:
        """Acts where the job's first process was stopped, as its shell would."""
        root = self._tree.root
        if root.ended_s is not None:
            return
        try:
            found = os.waitid(os.P_PID, root.pid, os.WSTOPPED | os.WNOHANG)
        except ChildProcessError:
            return
        if found is None or found.si_code not in (os.CLD_STOPPED, os.CLD_TRAPPED):
            return
        if found.si_status in (signal.SIGTTIN, signal.SIGTTOU):
            if not self._terminal.give(root.pid):
                if self._terminal.is_given:
                    return
                self.pause()  # we are in the background ourselves: `fg` brings us both back
                self._terminal.give(root.pid)
            self._sending.pass_on(signal.SIGCONT)
        elif found.si_status == signal.SIGTSTP and self._terminal.is_given:
            self.pause()
            self._terminal.give(root.pid)
            self._sending.pass_on(signal.SIGCONT)

    def pause(self) -> None:
        """Stops us until our shell says to go on."""
        self._terminal.take_back()
        stopped = self._now()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._paused(self._now() - stopped)
