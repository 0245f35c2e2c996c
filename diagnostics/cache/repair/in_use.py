"""Files that another process writes to: found out once for all, and again right before each is changed."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from diagnostics.cache.repair.actions import Action, FilePlan
from diagnostics.core import redaction
from diagnostics.machine.processes.file_writers import FileId, FileUse, FileUses, file_uses, is_written

FRESH_S = 1.0  # where the kernel answers for no single file, /proc is read again after this time
COMMAND_CHARACTERS = 60
UNNAMED = "open for writing in a process that cannot be seen from here (another user's, a container's)"


def file_id(plan: FilePlan) -> FileId:
    """Returns device and inode."""
    return plan.identity.device, plan.identity.inode


@dataclass(slots=True)
class Writers:
    """Who writes to the files of a plan; `still` asks again."""

    wanted: frozenset[FileId]
    found: FileUses
    since: float
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, files: Sequence[FilePlan]) -> Writers:
        """Returns who writes now."""
        wanted = frozenset(map(file_id, files))
        return cls(wanted, file_uses(wanted) if wanted else FileUses(uses={}, unseen=0), time.monotonic())

    @property
    def unseen(self) -> int:
        """How many processes could not be looked into."""
        return self.found.unseen

    def use_of(self, plan: FilePlan) -> FileUse | None:
        """Returns who wrote to the file when last asked."""
        return self.found.uses.get(file_id(plan))

    def still(self, plan: FilePlan) -> FilePlan | None:
        """Returns the plan that leaves the file alone if somebody writes to it now, None if nobody does.

        Raises OSError where the file cannot be opened.
        """
        match is_written(plan.real):
            case True:
                return left_to_its_writer(plan, file_uses([file_id(plan)]).uses.get(file_id(plan)))
            case None if use := self._fresh().get(file_id(plan)):
                return left_to_its_writer(plan, use)
        return None

    def _fresh(self) -> dict[FileId, FileUse]:
        with self.lock:
            if time.monotonic() - self.since > FRESH_S:
                self.found, self.since = file_uses(self.wanted), time.monotonic()
            return self.found.uses


def left_to_its_writer(plan: FilePlan, use: FileUse | None) -> FilePlan:
    """Returns the plan that leaves the file alone and names the process."""
    who = _named(use) if use else UNNAMED
    return replace(plan, action=Action.LEAVE, why=f"{who}; run again when it has ended", target="", written=0, grows=0)


def _named(use: FileUse) -> str:
    if use.pid < 0:
        return f"{use.how} by a process that the kernel does not name"
    command = redaction.line(shlex.join(redaction.argv(use.argv)))
    shown = command if len(command) <= COMMAND_CHARACTERS else f"{command[: COMMAND_CHARACTERS - 3]}..."
    return f"{use.how} by pid {use.pid}" + (f" ({shown})" if shown else "")
