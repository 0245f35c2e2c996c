"""Sends signals to the processes of a job and notes whom they reached, so that no one else is blamed for them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence

from diagnostics.machine.processes.job_processes import JobTree, signal_all
from diagnostics.record.supervisor_facts import SentSignal
from diagnostics.supervisor.facts_file import JobFactsFile


class JobSending:
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
